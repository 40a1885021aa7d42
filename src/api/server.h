// The API server: Kubernetes-style objects of a Store over HTTPS, every change by way of a Writer.
//
// Thread rule: Start, Stop and SetCertificate from one thread. The ports must outlive it, and the
// writer must answer what it was handed until Stop() returns: stop the server first, then the
// writer.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/listener.h"
#include "api/request.h"
#include "api/response.h"
#include "api/tokens.h"
#include "base/instant.h"
#include "base/result.h"
#include "port/exec.h"
#include "port/logs.h"
#include "port/store.h"
#include "port/telemetry.h"
#include "port/writer.h"

namespace pondage::api {

struct ServerOptions {
  Listener listener;
  std::string certificate_pem;
  std::string key_pem;
  int threads = 2;
  std::size_t max_connections = 10'000;

  port::Store& store;
  port::Writer& writer;
  const port::Logs& logs;
  const port::Telemetry& telemetry;
  TokenStore& tokens;
  std::function<base::Instant()> now;
  // May anything be created? What there is can be changed and deleted all the same. Null: always.
  std::function<base::Result<void>()> admit_new;
  // May this TFJob's images be run here? The error says what is wrong and what there is. Null: any.
  std::function<base::Result<void>(const boost::json::object& tfjob)> admit_tfjob;
  std::function<std::string()> metrics;  // Prometheus text for /metrics; null: 404
  // Paths below /pondage/v1/ that the host answers itself, to whom access allows, now or later
  // (Stop() waits for it); false: not one of them. It is called on an IO thread and must return at
  // once.
  std::function<bool(const Request&, const Reply&)> own_view;
  port::Exec* exec = nullptr;  // null: no program can be started in a Pod; must outlive the server
};

class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();  // stops

  base::Result<void> Start();  // once; kInvalid: certificate
  void Stop();
  std::uint16_t port() const;
  std::size_t ended() const;     // connections, since the start
  std::size_t watchers() const;  // streams that are open
  // For connections from now on: a renewed certificate.
  base::Result<void> SetCertificate(const std::string& certificate_pem, const std::string& key_pem);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pondage::api
