#include "run/shim_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace pondage::run {
namespace {

constexpr int kMessagesPerTurn = 64;
constexpr std::int64_t kPauseMs = 200;  // before the next try to accept

bool IsOurAccount(int connection) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace

ShimSockets::ShimSockets(Reactor& reactor, OnState on_state, OnClosed on_closed)
    : reactor_(reactor), on_state_(std::move(on_state)), on_closed_(std::move(on_closed)) {}

ShimSockets::~ShimSockets() {
  for (const int connection : connections_) close(connection);
}

bool ShimSockets::Listen(const std::string& directory) {
  const shim::Descriptor parent(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  shim::Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!parent || !listener) return false;
  unlinkat(parent.get(), "agent.sock", 0);
  // Through the open directory, because a socket's path may have 107 bytes only.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/agent.sock",
                parent.get());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      fchmodat(parent.get(), "agent.sock", 0600, 0) != 0 || listen(listener.get(), 1024) != 0) {
    return false;
  }
  listener_ = std::move(listener);
  reactor_.Watch(listener_.get(), [this] { Accept(); });
  return true;
}

void ShimSockets::Accept() {
  while (true) {
    shim::Descriptor connection(
        accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      // No descriptor is free: the one that waits would wake this thread for ever.
      reactor_.Unwatch(listener_.get());
      reactor_.After(kPauseMs, [this] { reactor_.Watch(listener_.get(), [this] { Accept(); }); });
      return;
    }
    if (!connection) return;
    if (!IsOurAccount(connection.get())) continue;
    const int number = connection.Release();
    connections_.insert(number);
    reactor_.Watch(number, [this, number] { Receive(number); });
  }
}

void ShimSockets::Receive(int connection) {
  std::vector<char> message(shim::kMessageLimit);
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    const ssize_t size = recv(connection, message.data(), message.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    auto state = size > 0 ? shim::DecodeState({message.data(), static_cast<std::size_t>(size)})
                          : std::nullopt;
    if (!state) {
      Close(connection);
      on_closed_(connection);
      return;
    }
    on_state_(connection, *std::move(state));
    if (!connections_.contains(connection)) return;
  }
}

bool ShimSockets::Send(int connection, const shim::Command& command,
                       std::span<const int> descriptors) {
  std::string bytes = shim::Encode(command);
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

void ShimSockets::Close(int connection) {
  if (connections_.erase(connection) == 0) return;
  reactor_.Unwatch(connection);
  close(connection);
}

}  // namespace pondage::run
