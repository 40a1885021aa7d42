// One answer as the transport sends it: whole, or as a stream that it pulls from.
//
// Values. A Stream is used by one session, one call at a time; its wake function may be called from
// any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"

namespace pondage::api {

// A body whose end is not known when the answer begins.
class Stream {
 public:
  virtual ~Stream() = default;
  enum class Next { kMore, kWait, kEnd, kBroken };

  // Appends what there is to send now, about 128 KiB at most. kWait: nothing follows until the wake
  // function was called or WaitAtMost() has passed. kBroken: the rest cannot be had; the client
  // must not take what it got for the whole.
  virtual Next Fill(std::string& out) = 0;
  // Called once before the first Fill.
  virtual void OnReady(std::function<void()> /*wake*/) {}
  virtual base::Millis WaitAtMost() const { return base::Millis{60'000}; }
  // True: it waits for the world. The transport then notices a client that hangs up meanwhile, and
  // closes the connection at the end.
  virtual bool Live() const { return false; }
};

class Talk;

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::unique_ptr<Stream> stream;  // in place of `body`
  // In place of an answer: the connection becomes a WebSocket that speaks `protocol`.
  std::shared_ptr<Talk> talk;
  std::string protocol;
};

// Takes the answer of one request; any thread, called once.
using Reply = std::function<void(Response)>;

}  // namespace pondage::api
