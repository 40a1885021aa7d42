// A TCP address that is listened on. Whoever connects before a server takes it waits, and is not
// refused: so an address can be had, or found taken, before anything else is done.
//
// Thread rule: a value; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace pondage::api {

class Listener {
 public:
  // Port 0: any. kInvalid PND-A021: no IP address; kUnavailable PND-A022: taken or not ours.
  static base::Result<Listener> On(const std::string& address, std::uint16_t port);

  Listener(Listener&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), port_(other.port_), is_v6_(other.is_v6_) {}
  Listener& operator=(Listener&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(port_, other.port_);
    std::swap(is_v6_, other.is_v6_);
    return *this;
  }
  ~Listener();

  std::uint16_t port() const { return port_; }
  bool is_v6() const { return is_v6_; }
  int Release() { return std::exchange(socket_, -1); }  // the caller's from now on

 private:
  explicit Listener(int socket) : socket_(socket) {}

  int socket_;
  std::uint16_t port_ = 0;
  bool is_v6_ = false;
};

}  // namespace pondage::api
