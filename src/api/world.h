// What the handlers of the API work on: ports, tokens, time, and what admission asks of its host.
//
// References stay valid as long as the server; every member may be used from any thread.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>

#include "api/exec_talk.h"
#include "api/request.h"
#include "api/response.h"
#include "api/tokens.h"
#include "base/instant.h"
#include "base/result.h"
#include "port/logs.h"
#include "port/store.h"
#include "port/telemetry.h"
#include "port/writer.h"

namespace pondage::api {

constexpr int kExecSeats = 200;  // programs that clients may have running at once

struct World {
  port::Store& store;
  port::Writer& writer;
  const port::Logs& logs;
  const port::Telemetry& telemetry;
  TokenStore& tokens;
  std::function<base::Instant()> now;
  std::function<void(std::function<void()>)> post;  // runs it on an IO thread
  // May anything be created? Null: always.
  std::function<base::Result<void>()> admit_new;
  // May a TFJob with these images and this environment be taken? Null: any.
  std::function<base::Result<void>(const boost::json::object& tfjob)> admit_tfjob;
  std::function<std::string()> metrics;  // Prometheus text; null: none
  // Paths below /pondage/v1/ that the host answers itself, now or later; false: not one of them.
  // Null: there are none.
  std::function<bool(const Request&, const Reply&)> own_view;
  port::Exec* exec = nullptr;  // null: no program can be started in a Pod
  std::shared_ptr<ExecSeats> exec_seats = std::make_shared<ExecSeats>(kExecSeats);
};

}  // namespace pondage::api
