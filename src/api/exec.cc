#include "api/exec.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>

#include "api/container.h"
#include "api/exec_talk.h"
#include "api/problem.h"
#include "api/read.h"
#include "api/render.h"
#include "api/table.h"
#include "manifest/object.h"

namespace pondage::api {

namespace json = boost::json;

namespace {

constexpr std::string_view kNewest = "v5.channel.k8s.io";
constexpr std::string_view kOlder = "v4.channel.k8s.io";

Outcome<ExecPlan> PlanOf(const Request& request) {
  ExecPlan plan;
  plan.argv = request.query.All("command");
  plan.in = request.query.Flag("stdin");
  plan.out = request.query.Flag("stdout");
  plan.terminal = request.query.Flag("tty");
  plan.err = request.query.Flag("stderr") && !plan.terminal;
  if (plan.argv.empty() || plan.argv.front().empty()) {
    return Refuse(BadRequest("you must specify at least one command for the container"));
  }
  if (!plan.in && !plan.out && !plan.err) {
    return Refuse(BadRequest("at least one of stdin, stdout, stderr must be true"));
  }
  return plan;
}

// It must run now; what it did before is in its log.
Outcome<void> CheckRuns(const json::object& pod, const std::string& name,
                        const std::string& container) {
  const std::string phase = TextAt(pod, "status.phase");
  if (phase == "Succeeded" || phase == "Failed") {
    return Refuse(BadRequest(fmt::format(
        "cannot exec into a container in a completed pod; current phase is {}", phase)));
  }
  const json::object* status = StatusOf(pod, container);
  if (phase == "Running" && status && At(*status, "state.running")) return {};
  return Refuse(BadRequest(
      fmt::format("container \"{}\" in pod \"{}\" is not running now: a program can be started "
                  "in it only while it runs",
                  container, name)));
}

// The protocol that both know, by the client's order.
Outcome<std::string> ProtocolOf(const Request& request) {
  if (request.upgrade.empty()) return Refuse(BadRequest("Upgrade request required"));
  if (request.upgrade != "websocket") {
    return Refuse(BadRequest(fmt::format(
        "exec is served over WebSocket, not over {}: use kubectl 1.31 or later, with 1.29 and 1.30 "
        "set KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true",
        request.upgrade)));
  }
  for (const std::string& offered : request.protocols) {
    if (offered == kNewest || offered == kOlder) return offered;
  }
  return Refuse(
      BadRequest(fmt::format("no protocol of exec that is offered ({}) is served ({}, {})",
                             fmt::join(request.protocols, ", "), kNewest, kOlder)));
}

}  // namespace

Response Exec(const Request& request, const Route& route, const World& world) {
  if (!world.exec) return ToResponse(NoSuchResource());
  const auto object = world.store.Get(KeyOf(route));
  if (!object) return ToResponse(FromError(object.error(), *route.kind, route.name));
  const json::object pod = Parsed(*object);
  const auto container = ContainerOf(request, pod, route.name);
  if (!container) return ToResponse(container.error());
  auto plan = PlanOf(request);
  if (!plan) return ToResponse(plan.error());
  if (const auto runs = CheckRuns(pod, route.name, *container); !runs) {
    return ToResponse(runs.error());
  }
  auto protocol = ProtocolOf(request);
  if (!protocol) return ToResponse(protocol.error());
  plan->uid = object->uid;
  plan->closes = *protocol == kNewest;
  auto seat = ExecSeats::Take(world.exec_seats);
  if (!seat) {
    return ToResponse(Unavailable(
        fmt::format("{} programs run for clients already: end one of them first", kExecSeats)));
  }
  const std::string program = plan->argv.front();
  auto talk = MakeExecTalk(*world.exec, *std::move(plan), std::move(seat));
  if (!talk) return ToResponse(FromError(talk.error(), *route.kind, route.name));
  // Who entered what must stand in every log, whatever its level; its arguments may hold secrets.
  spdlog::warn("{} starts {:?} in {}/{}", request.identity.name, program, route.space, route.name);
  Response response;
  response.status = 101;
  response.talk = *std::move(talk);
  response.protocol = *std::move(protocol);
  return response;
}

}  // namespace pondage::api
