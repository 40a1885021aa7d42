#include "view/job_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "terminal/text.h"

namespace pondage::view {
namespace {

struct StateRow {
  JobState state;
  const char* name;
  terminal::Tint tint;
};
constexpr StateRow kStates[] = {
    {JobState::kWaiting, "waiting", terminal::Tint::kYellow},
    {JobState::kStarting, "starting", terminal::Tint::kCyan},
    {JobState::kRunning, "running", terminal::Tint::kGreen},
    {JobState::kSaving, "saving", terminal::Tint::kMagenta},
    {JobState::kRestarting, "restarting", terminal::Tint::kMagenta},
    {JobState::kRequeued, "requeued", terminal::Tint::kYellow},
    {JobState::kStopping, "stopping", terminal::Tint::kMagenta},
    {JobState::kStopped, "stopped", terminal::Tint::kDim},
    {JobState::kSucceeded, "succeeded", terminal::Tint::kBlue},
    {JobState::kFailed, "failed", terminal::Tint::kRed},
    {JobState::kDeleting, "deleting", terminal::Tint::kDim},
};

const StateRow& RowOf(JobState state) {
  return *std::ranges::find(kStates, state, &StateRow::state);
}

bool HasCondition(const json::value& job, std::string_view type) {
  for (const json::value& condition : client::Items(job, {"status", "conditions"})) {
    if (client::Text(condition, {"type"}) == type)
      return client::Text(condition, {"status"}) == "True";
  }
  return false;
}

std::string ConditionMessage(const json::value& job, std::string_view type) {
  for (const json::value& condition : client::Items(job, {"status", "conditions"})) {
    if (client::Text(condition, {"type"}) == type) return client::Text(condition, {"message"});
  }
  return {};
}

JobState DrainState(const std::string& drain) {
  if (drain == "restart" || drain == "resize") return JobState::kRestarting;
  if (drain == "yield") return JobState::kSaving;
  if (drain == "delete") return JobState::kDeleting;
  if (drain == "finish") return JobState::kRunning;
  return JobState::kStopping;
}

JobState StateOf(const json::value& job) {
  if (HasCondition(job, "Succeeded")) return JobState::kSucceeded;
  if (HasCondition(job, "Failed")) return JobState::kFailed;
  if (client::Find(job, {"metadata", "deletionTimestamp"}) != nullptr) return JobState::kDeleting;
  const std::string stage = client::Text(job, {"status", "pondage", "stage"});
  if (stage == "draining") return DrainState(client::Text(job, {"status", "pondage", "drain"}));
  if (stage == "bound" || stage.empty()) {
    if (HasCondition(job, "Running")) return JobState::kRunning;
    if (stage == "bound") return JobState::kStarting;
    if (HasCondition(job, "Restarting")) return JobState::kRestarting;
  }
  if (client::IsTrue(job, {"spec", "runPolicy", "suspend"})) return JobState::kStopped;
  if (HasCondition(job, "Restarting")) return JobState::kRestarting;
  const std::int64_t attempt = client::NumberOr(job, {"status", "pondage", "attempt"}, 0);
  return attempt > 0 ? JobState::kRequeued : JobState::kWaiting;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower;
}

constexpr const char* kMain = "tensorflow";
constexpr std::int64_t kNoLimitS = 100LL * 365 * 24 * 3600;  // who writes more wants none

const json::value* MainContainer(const json::value& replica_spec) {
  const json::array& containers = client::Items(replica_spec, {"template", "spec", "containers"});
  for (const json::value& container : containers) {
    if (client::Text(container, {"name"}) == kMain) return &container;
  }
  return containers.empty() ? nullptr : &containers[0];
}

// "worker/1" of "worker-1": replicas are spelled in one way.
std::string AsSpelled(std::string replica) {
  const std::size_t split = replica.rfind('-');
  if (split != std::string::npos) replica[split] = '/';
  return replica;
}

ReplicaView ViewReplica(const json::value& replica, const std::string& job) {
  ReplicaView view;
  view.role = Lower(client::Text(replica, {"role"}));
  view.index = static_cast<int>(client::NumberOr(replica, {"index"}, 0));
  view.name = fmt::format("{}/{}", view.role, view.index);
  view.pod = fmt::format("{}-{}-{}", job, view.role, view.index);
  view.phase = client::Text(replica, {"phase"});
  view.node = client::Text(replica, {"node"});
  for (const json::value& gpu : client::Items(replica, {"gpus"})) {
    if (gpu.is_int64()) view.gpus.push_back(gpu.get_int64());
  }
  view.restarts = static_cast<int>(client::NumberOr(replica, {"restarts"}, 0));
  view.step = client::NumberOr(replica, {"step"}, -1);
  view.started = client::Time(replica, {"startedAt"});
  view.restart_at = client::Time(replica, {"restartAt"});
  // The time of a restart stays written down when it has come.
  if (view.started && view.restart_at && *view.started >= *view.restart_at) view.restart_at.reset();
  if (view.restart_at && view.restarts > 0) --view.restarts;  // it is still to come
  for (const std::string_view which : {"exit", "lastExit"}) {
    if (client::Find(replica, {which}) == nullptr) continue;
    view.exit_code = client::Number(replica, {which, "code"});
    view.exit_reason = client::Text(replica, {which, "reason"});
    view.exit_message = client::Text(replica, {which, "message"});
    break;
  }
  return view;
}

void ReadSpec(const json::value& job, JobView& view) {
  for (const auto& [role, spec] : client::Members(job, {"spec", "tfReplicaSpecs"})) {
    const int replicas = static_cast<int>(client::NumberOr(spec, {"replicas"}, 1));
    if (replicas <= 0) continue;
    view.asked.emplace_back(Lower(role), replicas);
    view.gpus += replicas * static_cast<int>(GpusOf(spec));
    if (const json::value* main = MainContainer(spec); main != nullptr && view.image.empty()) {
      view.image = client::Text(*main, {"image"});
    }
  }
  const json::value* policy = client::Find(job, {"spec", "runPolicy"});
  if (const auto limit = policy ? client::Number(*policy, {"backoffLimit"}) : std::nullopt) {
    view.restart_limit = std::max<std::int64_t>(*limit - 1, 0);  // Kubeflow counts failures
  }
  const auto started = client::Time(job, {"status", "startTime"});
  const auto seconds = policy ? client::Number(*policy, {"activeDeadlineSeconds"}) : std::nullopt;
  if (seconds && started && *seconds < kNoLimitS)
    view.ends_by = *started + base::SecondsLong(*seconds);
  view.queue = client::Text(job, {"spec", "runPolicy", "schedulingPolicy", "queue"});
  if (view.queue.empty())
    view.queue = client::Text(job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"});
  if (view.queue.empty()) view.queue = "default";
}

// A job whose replicas restart each for itself has no one cause: the earliest exit that was no
// success stands for it.
void TakeFirstExit(const json::value& ours, JobView& view) {
  std::optional<base::Instant> earliest;
  for (const json::value& replica : client::Items(ours, {"replicas"})) {
    const auto code = client::Number(replica, {"exit", "code"});
    const auto at = client::Time(replica, {"exit", "time"});
    if (!code || *code == 0 || client::Text(replica, {"exit", "reason"}) == "StoppedWithJob")
      continue;
    if (view.exit_code && (!at || !earliest || *earliest <= *at)) continue;
    earliest = at;
    view.exit_code = code;
    const ReplicaView first = ViewReplica(replica, view.name);
    view.cause_replica = first.name;
    view.cause_reason = first.exit_reason;
    view.cause_message = first.exit_message;
  }
}

// Failures that count are not all followed by a restart: one that is still to come has not been,
// and after the last one none comes (the sentence is Kubeflow's).
std::int64_t RestartsDone(const JobView& view) {
  std::int64_t missing = 0;
  if (view.state == JobState::kFailed) {
    const bool gave_up = view.failure.contains("reached the specified backoff limit") ||
                         view.failure.contains("times in a row to be run again");
    missing = gave_up ? 1 : 0;
  } else if (view.not_before) {
    missing = 1;
  }
  for (const ReplicaView& replica : view.replicas) missing += replica.restart_at ? 1 : 0;
  return std::max<std::int64_t>(view.failures - missing, 0);
}

void ReadStatus(const json::value& job, JobView& view) {
  const json::value* ours = client::Find(job, {"status", "pondage"});
  view.ended = client::Time(job, {"status", "completionTime"});
  if (view.state == JobState::kFailed) view.failure = ConditionMessage(job, "Failed");
  if (ours == nullptr) return;
  // Kubeflow's times are whole seconds; what is missing stands beside them.
  if (view.ended) view.ended->unix_ms += client::NumberOr(*ours, {"millis", "completionTime"}, 0);
  view.attempt = client::NumberOr(*ours, {"attempt"}, 0);
  view.failures = client::NumberOr(*ours, {"restarts"}, 0);
  view.queued = client::Time(*ours, {"queuedAt"});
  view.bound = client::Time(*ours, {"boundAt"});
  view.deadline = client::Time(*ours, {"drainDeadline"});
  view.not_before = client::Time(*ours, {"notBefore"});
  view.drain = client::Text(*ours, {"drain"});
  view.stopped_by = client::Text(*ours, {"stoppedBy"});
  view.saved = client::Time(*ours, {"checkpoint", "time"});
  view.saved_step = client::NumberOr(*ours, {"checkpoint", "step"}, -1);
  view.saved_path = client::Text(*ours, {"checkpoint", "path"});
  const auto before = client::Time(*ours, {"checkpointBefore"});
  view.saved_since_asked = view.saved && (!before || *view.saved > *before);
  if (const json::value* reason = client::Find(*ours, {"reason"})) {
    view.reason = WaitReason{.id = client::Text(*reason, {"id"}),
                             .constraint = client::Text(*reason, {"constraint"}),
                             .message = client::Text(*reason, {"message"}),
                             .values = {},
                             .need = client::NumberOr(*reason, {"need"}, 0),
                             .have = client::NumberOr(*reason, {"have"}, 0),
                             .start_latest = client::Time(*reason, {"startLatest"})};
    for (const auto& [name, value] : client::Members(*reason, {"values"})) {
      view.reason->values[std::string(name)] = client::Text(value, {});
    }
  }
  view.cause_replica = AsSpelled(client::Text(*ours, {"cause", "replica"}));
  view.cause_code = client::Number(*ours, {"cause", "code"});
  view.cause_reason = client::Text(*ours, {"cause", "reason"});
  view.cause_message = client::Text(*ours, {"cause", "message"});
  for (const json::value& replica : client::Items(*ours, {"replicas"})) {
    view.replicas.push_back(ViewReplica(replica, view.name));
    view.step = std::max(view.step, view.replicas.back().step);
  }
  for (const json::value& past : client::Items(*ours, {"history"})) {
    view.history.push_back({.attempt = client::NumberOr(past, {"attempt"}, 0),
                            .replica = AsSpelled(client::Text(past, {"replica"})),
                            .code = client::NumberOr(past, {"code"}, 0),
                            .reason = client::Text(past, {"reason"}),
                            .message = client::Text(past, {"message"}),
                            .at = client::Time(past, {"time"})});
  }
  view.restarts = RestartsDone(view);
  // One that runs by its conditions, but of which nothing runs.
  const auto is_down = [](const ReplicaView& replica) { return replica.restart_at.has_value(); };
  if (view.state == JobState::kRunning && !view.replicas.empty() &&
      std::ranges::all_of(view.replicas, is_down)) {
    view.state = JobState::kRestarting;
  }
  if (view.state == JobState::kFailed) {
    view.exit_code = client::Number(*ours, {"cause", "code"});
    if (!view.exit_code) TakeFirstExit(*ours, view);
  } else if (view.state == JobState::kSucceeded) {
    view.exit_code = 0;
  }
}

std::string ExitText(const std::string& who, std::int64_t code, const std::string& reason,
                     const std::string& message, const terminal::Screen& screen) {
  if (reason == "StartFailed" && !message.empty())
    return fmt::format(fmt::runtime(screen.Pick("{} cannot start: {}", "{} 无法启动: {}")), who,
                       message);
  std::string text =
      fmt::format(fmt::runtime(screen.Pick("{} exited {}", "{} 退出码 {}")), who, code);
  if (!reason.empty() && reason != "Error" && reason != "StoppedWithJob") text += " " + reason;
  return text;
}

std::string AgainText(base::Instant at, const terminal::Screen& screen, base::Instant now) {
  return now < at ? fmt::format(fmt::runtime(screen.Pick("starts again at {}", "{} 再次启动")),
                                terminal::ClockText(at))
                  : std::string(screen.Pick("starts again now", "正在再次启动"));
}

// Replicas that are down for their restart delay: which, why, until when.
std::vector<std::string> DownTexts(const JobView& job, const terminal::Screen& screen,
                                   base::Instant now) {
  std::vector<std::string> texts;
  for (const ReplicaView& replica : job.replicas) {
    if (!replica.restart_at) continue;
    const std::string again = AgainText(*replica.restart_at, screen, now);
    texts.push_back(replica.exit_code
                        ? ExitText(replica.name, *replica.exit_code, replica.exit_reason,
                                   replica.exit_message, screen) +
                              ", " + again
                        : replica.name + " " + again);
  }
  return texts;
}

// The one that is to come.
std::string NextRestartText(const JobView& job, const terminal::Screen& screen) {
  const std::int64_t next = job.restarts + 1;
  return job.restart_limit
             ? fmt::format(
                   fmt::runtime(screen.Pick("restart {} of {}", "第 {} 次重启, 最多 {} 次")), next,
                   *job.restart_limit)
             : fmt::format(fmt::runtime(screen.Pick("restart {}", "第 {} 次重启")), next);
}

std::string RestartsText(const JobView& job, const terminal::Screen& screen) {
  return phrase::Fill(screen.Pick("{n:restart|restarts}", "重启 {n} 次"),
                      {{"n", std::to_string(job.restarts)}});
}

// Why the whole job is down, and until when.
std::string RestartingText(const JobView& job, const terminal::Screen& screen, base::Instant now) {
  if (auto texts = DownTexts(job, screen, now); !texts.empty()) {
    if (texts.size() == 1) return texts.front() + ", " + NextRestartText(job, screen);
    if (job.restarts > 0) texts.push_back(RestartsText(job, screen));
    return terminal::Join(texts, "; ");
  }
  std::vector<std::string> parts;
  if (job.cause_code && !job.cause_replica.empty()) {
    parts.push_back(
        ExitText(job.cause_replica, *job.cause_code, job.cause_reason, job.cause_message, screen));
  }
  if (job.not_before) parts.push_back(AgainText(*job.not_before, screen, now));
  const bool delayed = job.not_before && now < *job.not_before;
  if (job.not_before) parts.push_back(NextRestartText(job, screen));
  if (!delayed && job.reason) {
    parts.push_back(job.reason->ShortId() + " " + job.reason->Sentence(screen.language));
  }
  return terminal::Join(parts, ", ");
}

std::string RunningText(const JobView& job, const terminal::Screen& screen, base::Instant now) {
  std::vector<std::string> parts = DownTexts(job, screen, now);
  if (job.step >= 0)
    parts.push_back(fmt::format("{} {}", screen.Pick("step", "第"), job.step) +
                    screen.Pick("", " 步"));
  if (job.saved) {
    parts.push_back(fmt::format(fmt::runtime(screen.Pick("saved {} ago", "{} 前保存")),
                                terminal::ShortAge(now - *job.saved)));
  }
  if (job.restarts > 0) parts.push_back(RestartsText(job, screen));
  return terminal::Join(parts, ", ");
}

std::string FailedText(const JobView& job, const terminal::Screen& screen) {
  if (!job.exit_code) return job.failure;
  std::string text = ExitText(
      job.cause_replica.empty() ? std::string(screen.Pick("program", "程序")) : job.cause_replica,
      *job.exit_code, job.cause_reason, job.cause_message, screen);
  if (!job.cause_message.empty() && job.cause_reason != "StartFailed")
    text += ": " + job.cause_message;
  return text;
}

}  // namespace

const char* StateName(JobState state) {
  return RowOf(state).name;
}

std::string StateWord(JobState state, terminal::Language language) {
  return std::string(phrase::Word(RowOf(state).name, language));
}

terminal::Tint StateTint(JobState state) {
  return RowOf(state).tint;
}

bool IsEnd(JobState state) {
  return state == JobState::kSucceeded || state == JobState::kFailed;
}

std::string WaitReason::ShortId() const {
  return id.starts_with("PND-") ? id.substr(4) : id;
}

std::string WaitReason::Sentence(terminal::Language language) const {
  const std::string text = values.empty() ? "" : phrase::Text(id, language, values);
  return text.empty() ? message : text;
}

std::int64_t GpusOf(const json::value& replica_spec) {
  std::int64_t gpus = 0;
  for (const json::value& container :
       client::Items(replica_spec, {"template", "spec", "containers"})) {
    gpus += client::NumberOr(
        container, {"resources", "limits", "nvidia.com/gpu"},
        client::NumberOr(container, {"resources", "requests", "nvidia.com/gpu"}, 0));
  }
  return gpus;
}

JobView ViewJob(const json::value& tfjob) {
  JobView view;
  view.name = client::Text(tfjob, {"metadata", "name"});
  view.space = client::Text(tfjob, {"metadata", "namespace"});
  view.uid = client::Text(tfjob, {"metadata", "uid"});
  view.user = client::Text(tfjob, {"metadata", "annotations", "pondage.dev/user"});
  view.work_copy = client::Text(tfjob, {"metadata", "annotations", "pondage.dev/workdir"});
  view.created = client::Time(tfjob, {"metadata", "creationTimestamp"}).value_or(base::Instant{});
  view.state = StateOf(tfjob);
  ReadSpec(tfjob, view);
  ReadStatus(tfjob, view);
  return view;
}

base::Result<std::string> ReplicaName(std::string text) {
  text = Lower(text);
  const std::size_t split = text.find_last_of("/-");
  if (split == std::string::npos || split == 0 || split + 1 == text.size() ||
      text.find_first_not_of("0123456789", split + 1) != std::string::npos) {
    return base::Fail(base::Kind::kInvalid, "PND-C002", "",
                      fmt::format("\"{}\" is no replica: write worker/1, chief/0, ps/2", text));
  }
  text[split] = '/';
  return text;
}

std::vector<ReplicaPlace> PlacesOf(const JobView& job, const std::string& only) {
  std::vector<ReplicaPlace> all;
  for (const auto& [role, count] : job.asked) {
    for (int i = 0; i < count; ++i) {
      ReplicaPlace place{fmt::format("{}/{}", role, i), fmt::format("{}-{}-{}", job.name, role, i)};
      if (only.empty() || place.replica == only) all.push_back(std::move(place));
    }
  }
  return all;
}

base::Error NoSuchReplica(const JobView& job, const std::string& replica) {
  std::vector<std::string> names;
  for (const ReplicaPlace& place : PlacesOf(job, "")) names.push_back(place.replica);
  return {base::Kind::kNotFound, "PND-C016", job.name,
          fmt::format("job {} has no replica {}\nit has {}", job.name, replica,
                      terminal::Join(names, ", "))};
}

std::string ReasonText(const JobView& job, const terminal::Screen& screen, base::Instant now) {
  switch (job.state) {
    case JobState::kRunning:
    case JobState::kStarting:
      return RunningText(job, screen, now);
    case JobState::kFailed:
      return FailedText(job, screen);
    case JobState::kSucceeded:
      return job.ended && job.bound ? fmt::format(fmt::runtime(screen.Pick("ran {}", "运行了 {}")),
                                                  terminal::LongAge(*job.ended - *job.bound))
                                    : "";
    case JobState::kSaving:
    case JobState::kStopping:
    case JobState::kDeleting:
      return job.deadline
                 ? fmt::format(fmt::runtime(screen.Pick("has until {} to save", "{} 前完成保存")),
                               terminal::ClockText(*job.deadline))
                 : "";
    case JobState::kStopped:
      return job.stopped_by.empty()
                 ? fmt::format("pondage resume {}", job.name)
                 : fmt::format(fmt::runtime(screen.Pick("by {}", "由 {} 停止")), job.stopped_by);
    case JobState::kRestarting:
      return RestartingText(job, screen, now);
    case JobState::kWaiting:
    case JobState::kRequeued:
      break;
  }
  if (!job.reason) return "";
  return job.reason->ShortId() + " " + job.reason->Sentence(screen.language);
}

std::string StartTrouble(const JobView& job, const terminal::Screen& screen) {
  for (const ReplicaView& replica : job.replicas) {
    const bool down = replica.restart_at || IsEnd(job.state);
    if (down && replica.exit_reason == "StartFailed" && replica.exit_code)
      return ExitText(replica.name, *replica.exit_code, replica.exit_reason, replica.exit_message,
                      screen);
  }
  // What runs again has overcome it.
  const bool runs = job.state == JobState::kRunning || job.state == JobState::kStarting;
  if (runs || job.cause_reason != "StartFailed" || !job.cause_code) return "";
  return ExitText(job.cause_replica, *job.cause_code, job.cause_reason, job.cause_message, screen);
}

json::object JobItem(const JobView& job, base::Instant now) {
  const auto number = [](std::int64_t value) -> json::value {
    return value < 0 ? json::value(nullptr) : json::value(value);
  };
  const auto time = [](const std::optional<base::Instant>& at) -> json::value {
    return at ? json::value(terminal::Rfc3339(*at)) : json::value(nullptr);
  };
  json::object item{{"name", job.name},
                    {"namespace", job.space},
                    {"queue", job.queue},
                    {"user", job.user.empty() ? json::value(nullptr) : json::value(job.user)},
                    {"state", StateName(job.state)},
                    {"gpus", job.gpus},
                    {"createdAt", terminal::Rfc3339(job.created)}};
  const bool waits = job.state == JobState::kWaiting || job.state == JobState::kRequeued ||
                     job.state == JobState::kRestarting;
  item["waitSeconds"] = waits ? json::value((now - job.queued.value_or(job.created)).value / 1000)
                              : json::value(nullptr);
  item["startedAt"] = time(job.bound);
  item["endedAt"] = time(job.ended);
  item["startLatest"] = time(job.reason ? job.reason->start_latest : std::nullopt);
  if (waits && job.reason) {
    item["reason"] = json::object{{"id", job.reason->ShortId()},
                                  {"constraint", job.reason->constraint},
                                  {"message", job.reason->message},
                                  {"need", job.reason->need},
                                  {"have", job.reason->have}};
  } else {
    item["reason"] = nullptr;
  }
  item["step"] = number(job.step);
  item["savedStep"] = number(job.saved_step);
  item["savedAt"] = time(job.saved);
  item["attempt"] = job.attempt;
  item["restarts"] = job.restarts;
  item["exitCode"] = job.exit_code ? json::value(*job.exit_code) : json::value(nullptr);
  return item;
}

std::string RenderJobLine(const JobView& job) {
  return json::serialize(JobItem(job, terminal::Now())) + "\n";
}

}  // namespace pondage::view
