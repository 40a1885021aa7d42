#include "api/listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace pondage::api {

using base::Fail;
using base::Kind;

namespace {

constexpr int kWaiting = 4096;  // connections that nobody has taken yet
// A server that is killed while it starts a program leaves its socket, for a moment, to the child
// that has not become the program yet.
constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr auto kLookAgain = std::chrono::milliseconds(20);

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// None, and errno says why. What was bound and may not listen after all cannot be bound again: each
// time another socket.
File Listen(const addrinfo& to) {
  File made(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (made && setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(made.get(), to.ai_addr, to.ai_addrlen) == 0 && listen(made.get(), kWaiting) == 0) {
    return made;
  }
  return File();
}

File ListenSoon(const addrinfo& to) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  File made = Listen(to);
  while (!made && errno == EADDRINUSE && std::chrono::steady_clock::now() <= until) {
    std::this_thread::sleep_for(kLookAgain);
    made = Listen(to);
  }
  return made;
}

std::uint16_t PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

base::Result<Listener> Listener::On(const std::string& address, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) {
    return Fail(Kind::kInvalid, "PND-A021", address, "is no IP address");
  }
  const Addresses addresses(found, freeaddrinfo);
  Listener listener(ListenSoon(*found));
  if (!listener.socket_) {
    const bool bare = found->ai_family != AF_INET6;
    return Fail(Kind::kUnavailable, "PND-A022",
                fmt::format(fmt::runtime(bare ? "{}:{}" : "[{}]:{}"), address, port),
                std::string("cannot be listened on: ") + std::strerror(errno));
  }
  listener.port_ = PortOf(listener.socket_.get());
  listener.is_v6_ = found->ai_family == AF_INET6;
  return listener;
}

}  // namespace pondage::api
