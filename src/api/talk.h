// A conversation over a WebSocket, without the WebSocket: messages in, messages out.
//
// Thread rule: both sides run on the strand of the executor that Begin() was given. Invariant: each
// side has at most one message of the other's in hand, so that memory does not grow with a slow
// reader.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <string>
#include <string_view>

namespace pondage::api {

// The WebSocket as the talk sees it.
class Line {
 public:
  virtual ~Line() = default;
  // One message; the next only after OnSent().
  virtual void Send(std::string message) = 0;
  // Asks for the next piece; the next only after OnPiece().
  virtual void ReadOn() = 0;
  // A proper end; nothing may follow.
  virtual void HangUp() = 0;
};

// Destroyed when the client is gone or the talk has hung up: it then lets go of what it holds.
class Talk {
 public:
  virtual ~Talk() = default;
  // Once, before anything else; `line` outlives the talk.
  virtual void Begin(Line& line, boost::asio::any_io_executor executor) = 0;
  // A part of a message (it comes in bounded pieces however long it is): the first, the last?
  virtual void OnPiece(std::string_view bytes, bool first, bool last) = 0;
  virtual void OnSent() = 0;
};

}  // namespace pondage::api
