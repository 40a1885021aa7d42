// A TCP address that is listened on. Whoever connects before a server takes it waits, and is not
// refused: so an address can be had, or found taken, before anything else is done.
//
// Thread rule: a value; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "api/file.h"
#include "base/result.h"

namespace pondage::api {

class Listener {
 public:
  // Port 0: any. kInvalid PND-A021: no IP address; kUnavailable PND-A022: taken or not ours.
  static base::Result<Listener> On(const std::string& address, std::uint16_t port);

  std::uint16_t port() const { return port_; }
  bool is_v6() const { return is_v6_; }
  int Release() { return socket_.Release(); }  // the caller's from now on

 private:
  explicit Listener(File socket) : socket_(std::move(socket)) {}

  File socket_;
  std::uint16_t port_ = 0;
  bool is_v6_ = false;
};

}  // namespace pondage::api
