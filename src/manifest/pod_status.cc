#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <string>

#include "manifest/annotations.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/pod_spec.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

const char* PhaseName(job::Phase phase) {
  switch (phase) {
    case job::Phase::kPending:
      return "Pending";
    case job::Phase::kRunning:
      return "Running";
    case job::Phase::kSucceeded:
      return "Succeeded";
    case job::Phase::kFailed:
      return "Failed";
  }
  return "Unknown";
}

// "0,2,3" as MakePod writes it: ascending.
std::optional<std::vector<int>> GpusOf(std::string_view text) {
  constexpr int kMostGpus = 4'096;
  std::vector<int> gpus;
  while (!text.empty()) {
    int gpu = -1;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), gpu);
    const bool rises = gpu > (gpus.empty() ? -1 : gpus.back()) && gpu < kMostGpus;
    if (error != std::errc() || !rises || (end != text.end() && *end != ',')) return std::nullopt;
    gpus.push_back(gpu);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()) + (end == text.end() ? 0 : 1));
  }
  return gpus;
}

bool IsOver(job::Phase phase) {
  return phase == job::Phase::kSucceeded || phase == job::Phase::kFailed;
}

json::object Terminated(const job::Exit& exit, std::optional<base::Instant> started) {
  std::string reason = exit.reason;
  if (reason.empty()) reason = exit.code == 0 ? "Completed" : "Error";
  json::object out{{"exitCode", exit.code}, {"reason", json::string(reason)}};
  if (!exit.message.empty()) out["message"] = exit.message;
  if (started) out["startedAt"] = FormatTime(*started);
  out["finishedAt"] = FormatTime(exit.at);
  return {{"terminated", std::move(out)}};
}

// Between two starts in place, as a kubelet shows it.
bool BacksOff(const job::Replica& replica) {
  return replica.phase == job::Phase::kRunning && !replica.alive && replica.restart_at.has_value();
}

json::object StateOf(const job::Replica& replica) {
  if (IsOver(replica.phase) && replica.exit) return Terminated(*replica.exit, replica.started);
  if (BacksOff(replica)) {
    return {{"waiting", json::object{{"reason", "CrashLoopBackOff"},
                                     {"message", json::string("starts again at " +
                                                              FormatTime(*replica.restart_at))}}}};
  }
  if (replica.phase == job::Phase::kRunning) {
    json::object running;
    if (replica.started) running["startedAt"] = FormatTime(*replica.started);
    return {{"running", std::move(running)}};
  }
  return {{"waiting", json::object{{"reason", "ContainerCreating"}}}};
}

json::object LastStateOf(const job::Replica& replica) {
  if (BacksOff(replica) && replica.exit) return Terminated(*replica.exit, replica.started);
  if (replica.restarts > 0 && replica.last_exit) return Terminated(*replica.last_exit, {});
  return {};
}

json::object ConditionOf(const char* type, bool is_true, const char* reason, base::Instant at) {
  json::object out{{"type", type},
                   {"status", is_true ? "True" : "False"},
                   {"lastProbeTime", nullptr},
                   {"lastTransitionTime", json::string(FormatTime(at))}};
  if (!is_true && reason != nullptr) out["reason"] = reason;
  return out;
}

}  // namespace

json::object PodStatus(const job::Spec& spec, const job::Replica& replica, std::string_view host_ip,
                       base::Instant now) {
  const bool over = IsOver(replica.phase);
  const bool ready = replica.phase == job::Phase::kRunning && !BacksOff(replica);
  const base::Instant granted = replica.granted.value_or(now);
  base::Instant turned = now;
  if (ready) turned = replica.started.value_or(now);
  if (over && replica.exit) turned = replica.exit->at;
  const char* why = over && replica.phase == job::Phase::kSucceeded ? "PodCompleted"
                    : over                                          ? "PodFailed"
                                                                    : "ContainersNotReady";
  json::object out;
  out["phase"] = PhaseName(replica.phase);
  if (replica.phase == job::Phase::kFailed && replica.exit &&
      (replica.exit->reason == "NodeLost" || replica.exit->reason == "StartFailed")) {
    out["reason"] = json::string(replica.exit->reason);
    if (!replica.exit->message.empty()) out["message"] = replica.exit->message;
  }
  out["conditions"] = {ConditionOf("PodScheduled", true, nullptr, granted),
                       ConditionOf("Initialized", true, nullptr, granted),
                       ConditionOf("ContainersReady", ready, why, turned),
                       ConditionOf("Ready", ready, why, turned)};
  out["hostIP"] = host_ip;
  out["podIP"] = host_ip;
  out["podIPs"] = json::array{json::object{{"ip", json::string(host_ip)}}};
  out["startTime"] = FormatTime(granted);
  const auto role = spec.roles.find(replica.role);
  json::object container{
      {"name", kMainContainer},
      {"image", json::string(role == spec.roles.end() ? "" : role->second.image)},
      {"imageID", ""},
      {"ready", ready},
      {"started", ready},
      {"restartCount", replica.restarts},
      {"state", StateOf(replica)},
      {"lastState", LastStateOf(replica)}};
  out["containerStatuses"] = json::array{std::move(container)};
  out["qosClass"] = "Burstable";
  return out;
}

base::Result<BoundPod> DecodeBoundPod(std::string_view pod_bytes) {
  TRY(const json::value value, ParseJson(pod_bytes));
  Trouble trouble;
  const Reader pod(&value, "", trouble);
  const Reader metadata = pod.Object("metadata");
  BoundPod bound{.uid = metadata.Text("uid"),
                 .grant = {.node = pod.Object("spec").Text("nodeName")}};
  const Reader status = pod.Object("status");
  const std::string phase = status.Text("phase");
  bound.ended = phase == "Succeeded" || phase == "Failed";
  status.Objects("containerStatuses", [&bound](const Reader& container) {
    bound.start = container.Int32("restartCount").value_or(0);
  });
  if (const auto gpus = GpusOf(metadata.Object("annotations").Text(kGpus))) {
    bound.grant.gpus = *gpus;
  } else {
    trouble.Say("metadata.annotations[pondage.dev/gpus]", "is no list of GPUs");
  }
  if (trouble.Any()) return trouble.Fail();
  return bound;
}

}  // namespace pondage::manifest
