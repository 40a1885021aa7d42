// HTTP/1.1 over TLS: listener, sessions, limits and time-outs. It knows no Kubernetes.
//
// Thread rule: Start, Stop and the setters from one thread; the handler is called on the IO threads
// and answers from any thread. Limits: header 64 KiB, body 3 MiB, handshake and a request's arrival
// bounded, a reader that takes nothing for a minute is dropped, all bodies over 256 KiB together
// are 96 MiB at most.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/listener.h"
#include "api/request.h"
#include "api/response.h"
#include "base/result.h"

namespace pondage::api {

// Called with each complete request.
using Handler = std::function<void(Request, Reply)>;

struct TransportOptions {
  Listener listener;
  std::string certificate_pem;
  std::string key_pem;
  int threads = 2;
  std::size_t max_connections = 10'000;
  base::Millis request_limit{30'000};  // for a request to arrive whole
  base::Millis idle_limit{300'000};    // between requests
  base::Millis write_limit{60'000};    // for one piece to be taken
  // Is that header `Authorization` of somebody who may send large bodies? Any thread.
  std::function<bool(std::string_view)> knows = [](std::string_view) { return true; };
};

class Transport {
 public:
  Transport();
  ~Transport();  // stops

  base::Result<void> Start(TransportOptions options, Handler handler);
  void Stop();
  std::uint16_t port() const;
  std::size_t ended() const;  // connections, since the start
  // Runs it on an IO thread; any thread, from Start to Stop.
  void Post(std::function<void()> task);
  // For connections accepted from now on.
  base::Result<void> SetCertificate(const std::string& certificate_pem, const std::string& key_pem);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pondage::api
