#include "client/fake_server_test.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace pondage::client {
namespace {

void SendAll(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Waits for bytes or the stop; false when there is nothing more to come.
bool Receive(int connection, std::string& buffer, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd wanted{connection, POLLIN, 0};
    if (poll(&wanted, 1, 20) == 0) continue;
    char room[4096];
    const ssize_t got = recv(connection, room, sizeof room, 0);
    if (got <= 0) return false;
    buffer.append(room, static_cast<std::size_t>(got));
    return true;
  }
  return false;
}

std::string HeaderOf(const std::string& head, const std::string& name) {
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t from = at + name.size() + 4;
  return head.substr(from, head.find("\r\n", from) - from);
}

}  // namespace

FakeServer::FakeServer(Answer answer) : answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 16) != 0)
    std::abort();
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this](std::stop_token stop) {
    while (!stop.stop_requested()) {
      pollfd wanted{listener_, POLLIN, 0};
      if (poll(&wanted, 1, 20) <= 0) continue;
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) continue;
      connections_.emplace_back([this, connection](std::stop_token ended) {
        std::string buffer;
        while (!ended.stop_requested()) {
          std::size_t end = buffer.find("\r\n\r\n");
          if (end == std::string::npos) {
            if (!Receive(connection, buffer, ended)) break;
            continue;
          }
          const std::string head = "\r\n" + buffer.substr(0, end + 2);
          const std::size_t length =
              std::strtoul(HeaderOf(head, "Content-Length").c_str(), nullptr, 10);
          if (buffer.size() < end + 4 + length) {
            if (!Receive(connection, buffer, ended)) break;
            continue;
          }
          Asked asked;
          asked.method = buffer.substr(0, buffer.find(' '));
          const std::size_t from = asked.method.size() + 1;
          asked.target = buffer.substr(from, buffer.find(' ', from) - from);
          asked.body = buffer.substr(end + 4, length);
          asked.token = HeaderOf(head, "Authorization");
          asked.content_type = HeaderOf(head, "Content-Type");
          buffer.erase(0, end + 4 + length);
          {
            const std::lock_guard lock(mutex_);
            asked_.push_back(asked);
          }
          const Said said = answer_(asked);
          if (said.silent) break;
          std::string text =
              fmt::format("HTTP/1.1 {} Said\r\nContent-Type: application/json\r\n", said.status);
          for (const std::string& header : said.headers) text += header + "\r\n";
          if (said.chunks.empty()) {
            SendAll(connection, text + fmt::format("Content-Length: {}\r\n\r\n{}", said.body.size(),
                                                   said.body));
            if (said.cut) break;
            continue;
          }
          SendAll(connection, text + "Transfer-Encoding: chunked\r\n\r\n");
          for (const std::string& chunk : said.chunks)
            SendAll(connection, fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk));
          if (said.cut) break;
          SendAll(connection, "0\r\n\r\n");
        }
        close(connection);
        ++ends_;
      });
    }
  });
}

FakeServer::~FakeServer() {
  acceptor_.request_stop();
  acceptor_.join();
  for (std::jthread& connection : connections_) connection.request_stop();
  connections_.clear();
  close(listener_);
}

void FakeServer::AwaitEnds(int count) const {
  while (ends_ < count) std::this_thread::yield();
}

std::vector<Asked> FakeServer::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

}  // namespace pondage::client
