// The server's side of the socket that its shims connect to.
//
// On the reactor's thread. A connection is known by its number until it is closed; what is no state
// of a shim of this account is closed at once.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>

#include "run/reactor.h"
#include "shim/descriptor.h"
#include "shim/wire.h"

namespace pondage::run {

class ShimSockets {
 public:
  using OnState = std::function<void(int connection, shim::State)>;
  using OnClosed = std::function<void(int connection)>;

  ShimSockets(Reactor& reactor, OnState on_state, OnClosed on_closed);
  ~ShimSockets();

  // Listens at `agent.sock` of the directory, however long its path. False: it cannot.
  bool Listen(const std::string& directory);
  // False when the socket is full or gone; then the shim will be heard of as closed.
  // The descriptors are duplicated in the shim.
  bool Send(int connection, const shim::Command& command, std::span<const int> descriptors = {});
  void Close(int connection);

 private:
  void Accept();
  void Receive(int connection);

  Reactor& reactor_;
  OnState on_state_;
  OnClosed on_closed_;
  shim::Descriptor listener_;
  std::set<int> connections_;
};

}  // namespace pondage::run
