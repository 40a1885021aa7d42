// The shim's side of the socket to the server: connects, connects again when the server was away.
//
// One thread, never blocks but in SendLast(). The whole state is sent on every connection, and
// again when it changed; a message the socket does not take now is sent when it does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "shim/wire.h"

namespace pondage::shim {

class ServerLink {
 public:
  // The descriptors that came with it are closed afterwards.
  using OnCommand = std::function<void(const Command&, std::span<const int> descriptors)>;
  using OnDropped = std::function<void()>;

  ServerLink(std::string path, OnCommand on_command, OnDropped on_dropped);
  ~ServerLink();
  ServerLink(const ServerLink&) = delete;
  ServerLink& operator=(const ServerLink&) = delete;

  // What the server should know from now on.
  void Update(std::string state);

  // For poll(): -1 while there is no connection; then the next attempt is due at retry_at().
  int socket() const { return socket_; }
  bool wants_to_write() const { return socket_ >= 0 && unsent_; }
  std::int64_t retry_at() const { return retry_at_ms_; }

  // After poll(), whatever it said. `now_ms` is monotonic.
  void Turn(std::int64_t now_ms);

  // The last state; waits a little for the socket to take it.
  void SendLast(std::string state);

 private:
  void Connect(std::int64_t now_ms);
  void Receive(std::int64_t now_ms);
  void Send(std::int64_t now_ms);
  void Drop(std::int64_t now_ms);

  std::string path_;
  OnCommand on_command_;
  OnDropped on_dropped_;
  std::string state_;
  int socket_ = -1;
  bool unsent_ = false;
  std::int64_t retry_at_ms_ = 0;
  std::int64_t pause_ms_ = 0;
};

}  // namespace pondage::shim
