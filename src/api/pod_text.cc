#include "api/pod_text.h"

#include <fmt/format.h>

#include "api/table.h"
#include "manifest/object.h"

namespace pondage::api {

namespace json = boost::json;

namespace {

const json::array& ArrayAt(const json::object& object, std::string_view path) {
  static const json::array kNone;
  const json::value* value = At(object, path);
  return value && value->is_array() ? value->get_array() : kNone;
}

std::int64_t NumberAt(const json::object& object, std::string_view path) {
  const json::value* value = At(object, path);
  return value && value->is_int64() ? value->get_int64() : 0;
}

bool FlagAt(const json::object& object, std::string_view path) {
  const json::value* value = At(object, path);
  return value && value->is_bool() && value->get_bool();
}

// "Error", "ExitCode:3", "Signal:9" of a terminated container; empty when it is not.
std::string TerminatedWord(const json::object& status) {
  if (!At(status, "state.terminated")) return "";
  if (std::string reason = TextAt(status, "state.terminated.reason"); !reason.empty())
    return reason;
  if (const auto signal = NumberAt(status, "state.terminated.signal"); signal != 0) {
    return fmt::format("Signal:{}", signal);
  }
  return fmt::format("ExitCode:{}", NumberAt(status, "state.terminated.exitCode"));
}

// "Init:1/2", "Init:Error" while init containers are not done; empty when they are.
std::string InitWord(const json::object& pod) {
  const auto& statuses = ArrayAt(pod, "status.initContainerStatuses");
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (!statuses[i].is_object()) continue;
    const json::object& status = statuses[i].get_object();
    if (At(status, "state.terminated") && NumberAt(status, "state.terminated.exitCode") == 0)
      continue;
    if (std::string word = TerminatedWord(status); !word.empty()) return "Init:" + word;
    const std::string waiting = TextAt(status, "state.waiting.reason");
    if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
    return fmt::format("Init:{}/{}", i, ArrayAt(pod, "spec.initContainers").size());
  }
  return "";
}

bool HasReadyCondition(const json::object& pod) {
  for (const auto& condition : ArrayAt(pod, "status.conditions")) {
    if (condition.is_object() && TextAt(condition.get_object(), "type") == "Ready") {
      return TextAt(condition.get_object(), "status") == "True";
    }
  }
  return false;
}

bool IsGated(const json::object& pod) {
  for (const auto& condition : ArrayAt(pod, "status.conditions")) {
    if (condition.is_object() && TextAt(condition.get_object(), "type") == "PodScheduled" &&
        TextAt(condition.get_object(), "reason") == "SchedulingGated") {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string PodReady(const json::object& pod) {
  int ready = 0;
  for (const auto& status : ArrayAt(pod, "status.containerStatuses")) {
    if (status.is_object() && FlagAt(status.get_object(), "ready") &&
        At(status.get_object(), "state.running")) {
      ++ready;
    }
  }
  return fmt::format("{}/{}", ready, ArrayAt(pod, "spec.containers").size());
}

std::string PodStatusWord(const json::object& pod) {
  std::string word = TextAt(pod, "status.phase");
  const std::string reason = TextAt(pod, "status.reason");
  if (!reason.empty()) word = reason;
  if (IsGated(pod)) word = "SchedulingGated";
  const std::string init = InitWord(pod);
  if (!init.empty()) {
    word = init;
  } else {
    bool running = false;
    const auto& statuses = ArrayAt(pod, "status.containerStatuses");
    for (std::size_t i = statuses.size(); i-- > 0;) {
      if (!statuses[i].is_object()) continue;
      const json::object& status = statuses[i].get_object();
      const std::string waiting = TextAt(status, "state.waiting.reason");
      if (!waiting.empty()) {
        word = waiting;
      } else if (std::string ended = TerminatedWord(status); !ended.empty()) {
        word = ended;
      } else if (FlagAt(status, "ready") && At(status, "state.running")) {
        running = true;
      }
    }
    if (word == "Completed" && running) word = HasReadyCondition(pod) ? "Running" : "NotReady";
  }
  if (At(pod, "metadata.deletionTimestamp"))
    word = reason == "NodeLost" ? "Unknown" : "Terminating";
  return word.empty() ? "Unknown" : word;
}

std::string PodRestarts(const json::object& pod, base::Instant now) {
  std::int64_t restarts = 0;
  std::optional<base::Instant> last;
  for (const auto& status : ArrayAt(pod, "status.containerStatuses")) {
    if (!status.is_object()) continue;
    restarts += NumberAt(status.get_object(), "restartCount");
    auto ended =
        manifest::ParseTime(TextAt(status.get_object(), "lastState.terminated.finishedAt"));
    if (ended && (!last || *ended > *last)) last = *ended;
  }
  if (restarts == 0 || !last) return std::to_string(restarts);
  return fmt::format("{} ({} ago)", restarts, ShortLength(now - *last));
}

}  // namespace pondage::api
