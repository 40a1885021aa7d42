#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "manifest/object.h"
#include "manifest/tfjob.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

using base::Instant;

namespace {

constexpr std::array kStages = {"waiting", "bound", "draining", "ended"};
constexpr std::array kDrains = {"none",   "restart", "suspend", "yield",
                                "resize", "finish",  "delete"};
constexpr std::array kPhases = {"pending", "running", "succeeded", "failed"};

template <class Enum, std::size_t n>
const char* WordOf(const std::array<const char*, n>& words, Enum value) {
  const auto at = static_cast<std::size_t>(value);
  REQUIRE(at < n);
  return words[at];
}

// Whole seconds and what is left of them, the rest never negative.
std::int64_t MillisOf(Instant at) {
  return ((at.unix_ms % 1000) + 1000) % 1000;
}

// Writes members that differ from their defaults.
class Writer {
 public:
  void Text(std::string_view key, const std::string& text) {
    if (!text.empty()) object_[key] = text;
  }
  void Number(std::string_view key, std::int64_t number, std::int64_t otherwise = 0) {
    if (number != otherwise) object_[key] = number;
  }
  void Flag(std::string_view key, bool flag) {
    if (flag) object_[key] = true;
  }
  void Time(std::string_view key, std::optional<Instant> at) {
    if (at) object_[key] = FormatMilliTime(*at);
  }
  void Value(std::string_view key, json::value value) { object_[key] = std::move(value); }

  json::object Take() { return std::move(object_); }

 private:
  json::object object_;
};

json::object EncodeExit(const job::Exit& exit, const std::string& replica) {
  Writer out;
  out.Value("code", exit.code);
  out.Text("reason", exit.reason);
  out.Text("message", exit.message);
  out.Time("time", exit.at);
  out.Number("monotonicMs", exit.at_monotonic_ms);
  out.Text("bootId", exit.boot_id);
  out.Text("replica", replica);
  return out.Take();
}

json::object EncodePast(const job::Past& past) {
  json::object out = EncodeExit(past.exit, past.replica);
  if (past.attempt != 0) out["attempt"] = past.attempt;
  return out;
}

void PutGpus(Writer& out, const fleet::Grant& grant) {
  out.Value("node", json::string(grant.node));
  json::array gpus;
  for (const int gpu : grant.gpus) gpus.push_back(gpu);
  out.Value("gpus", std::move(gpus));
}

json::object EncodeReplica(const job::Replica& replica) {
  Writer out;
  out.Value("role", job::RoleName(replica.role));
  out.Value("index", replica.index);
  out.Number("incarnation", replica.incarnation);
  out.Value("phase", WordOf(kPhases, replica.phase));
  out.Flag("present", replica.present);
  out.Flag("alive", replica.alive);
  out.Flag("deleting", replica.deleting);
  out.Time("deleteBy", replica.delete_by);
  out.Flag("disrupted", replica.disrupted);
  out.Flag("completed", replica.completed);
  out.Number("restarts", replica.restarts);
  out.Time("restartAt", replica.restart_at);
  if (replica.grant) {
    PutGpus(out, *replica.grant);
    out.Number("cpuMilli", replica.grant->cpu.value);
    out.Number("memoryBytes", replica.grant->memory.value);
    out.Number("gpuShareMilli", replica.grant->share.value);
  }
  out.Time("grantedAt", replica.granted);
  out.Number("port", replica.port);
  out.Time("startedAt", replica.started);
  out.Time("stopAskedAt", replica.stop_asked);
  out.Time("killAt", replica.kill_at);
  out.Flag("killed", replica.killed);
  out.Number("streak", replica.streak);
  if (replica.exit) out.Value("exit", EncodeExit(*replica.exit, ""));
  out.Flag("exitTaken", replica.exit_taken);
  if (replica.last_exit) out.Value("lastExit", EncodeExit(*replica.last_exit, ""));
  out.Flag("hello", replica.hello);
  out.Number("step", replica.step, -1);
  return out.Take();
}

json::object EncodeReason(const job::Reason& reason) {
  Writer out;
  out.Value("id", json::string(reason.id));
  out.Text("constraint", reason.constraint);
  out.Text("message", reason.message);
  out.Number("need", reason.need);
  out.Number("have", reason.have);
  out.Time("startLatest", reason.start_latest);
  if (!reason.values.empty()) out.Value("values", json::value_from(reason.values));
  out.Text("help", reason.help);
  return out.Take();
}

json::object EncodeSlot(const job::Slot& slot) {
  Writer out;
  out.Time("at", slot.at);
  json::array members;
  for (const fleet::Grant& grant : slot.grants) {
    Writer member;
    PutGpus(member, grant);
    member.Number("gpuShareMilli", grant.share.value);
    members.push_back(member.Take());
  }
  out.Value("members", std::move(members));
  return out.Take();
}

json::object EncodeCheckpoint(const job::Checkpoint& checkpoint) {
  Writer out;
  out.Number("step", checkpoint.step, -1);
  out.Time("time", checkpoint.at);
  out.Text("path", checkpoint.path);
  return out.Take();
}

// Milliseconds behind the whole seconds of Kubeflow's own fields; absent when all are zero.
json::object EncodeMillis(const job::Status& status) {
  Writer out;
  json::array conditions;
  bool any = false;
  for (const job::Condition& condition : status.conditions) {
    const std::int64_t updated = MillisOf(condition.updated);
    const std::int64_t changed = MillisOf(condition.changed);
    any = any || updated != 0 || changed != 0;
    conditions.push_back({updated, changed});
  }
  if (any) out.Value("conditions", std::move(conditions));
  if (status.start_time) out.Number("startTime", MillisOf(*status.start_time));
  if (status.completion_time) out.Number("completionTime", MillisOf(*status.completion_time));
  return out.Take();
}

json::object EncodePondage(const job::Status& status) {
  Writer out;
  out.Value("stage", WordOf(kStages, status.stage));
  if (status.drain != job::Drain::kNone) out.Value("drain", WordOf(kDrains, status.drain));
  out.Time("drainDeadline", status.drain_deadline);
  out.Time("notBefore", status.not_before);
  out.Time("queuedAt", status.queued);
  out.Time("boundAt", status.bound);
  if (status.reason) out.Value("reason", EncodeReason(*status.reason));
  if (status.slot) out.Value("reservation", EncodeSlot(*status.slot));
  out.Number("attempt", status.attempt);
  out.Number("restarts", status.restarts);
  out.Number("disruptions", status.disruptions);
  out.Number("voluntary", status.voluntary);
  out.Number("streak", status.streak);
  if (status.checkpoint) out.Value("checkpoint", EncodeCheckpoint(*status.checkpoint));
  out.Time("checkpointBefore", status.checkpoint_before);
  if (status.cause) {
    out.Value("cause", EncodeExit(*status.cause, status.cause_replica));
  } else if (!status.cause_replica.empty()) {
    out.Value("cause", json::object{{"replica", status.cause_replica}});
  }
  if (!status.history.empty()) {
    json::array history;
    for (const job::Past& past : status.history) history.push_back(EncodePast(past));
    out.Value("history", std::move(history));
  }
  out.Text("stoppedBy", status.user_stop);
  json::array replicas;
  for (const job::Replica& replica : status.replicas) replicas.push_back(EncodeReplica(replica));
  if (!replicas.empty()) out.Value("replicas", std::move(replicas));
  json::object millis = EncodeMillis(status);
  if (!millis.empty()) out.Value("millis", std::move(millis));
  return out.Take();
}

json::object EncodeCounts(const job::Counts& counts) {
  Writer out;
  out.Number("active", counts.active);
  out.Number("succeeded", counts.succeeded);
  out.Number("failed", counts.failed);
  return out.Take();
}

// ---- and back

template <class Enum, std::size_t n>
Enum EnumAt(const Reader& in, std::string_view key, const std::array<const char*, n>& words) {
  const std::string word = in.Text(key);
  if (word.empty()) return Enum{};
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) {
    in.trouble().Say(in.PathOf(key), fmt::format("\"{}\" is unknown", word));
    return Enum{};
  }
  return static_cast<Enum>(found - words.begin());
}

std::optional<Instant> TimeAt(const Reader& in, std::string_view key) {
  const auto text = in.MaybeText(key);
  if (!text) return std::nullopt;
  const auto at = ParseTime(*text);
  if (!at) {
    in.trouble().Say(in.PathOf(key), at.error().message);
    return std::nullopt;
  }
  // The last instant of the calendar is what kNever is written as.
  static const std::string kEnd = FormatMilliTime(base::kNever);
  return *text == kEnd ? base::kNever : *at;
}

int CountAt(const Reader& in, std::string_view key) {
  return in.Int32(key).value_or(0);
}

std::int64_t LongAt(const Reader& in, std::string_view key, std::int64_t otherwise = 0) {
  using Limits = std::numeric_limits<std::int64_t>;
  return in.Int(key, Limits::min(), Limits::max()).value_or(otherwise);
}

std::optional<job::Role> RoleAt(const Reader& in, const std::string& word, std::string_view path) {
  const auto role = job::RoleFromName(word);
  if (!role) in.trouble().Say(path, fmt::format("\"{}\" is no replica type", word));
  return role;
}

std::optional<job::Exit> DecodeExit(const Reader& in) {
  if (!in.Has("code")) return std::nullopt;
  return job::Exit{.code = CountAt(in, "code"),
                   .reason = in.Text("reason"),
                   .message = in.Text("message"),
                   .at = TimeAt(in, "time").value_or(Instant{}),
                   .at_monotonic_ms = LongAt(in, "monotonicMs"),
                   .boot_id = in.Text("bootId")};
}

std::optional<fleet::Grant> DecodeGrant(const Reader& in) {
  const auto node = in.MaybeText("node");
  if (!node) return std::nullopt;
  fleet::Grant grant{.node = *node,
                     .gpus = {},
                     .cpu = {LongAt(in, "cpuMilli")},
                     .memory = {LongAt(in, "memoryBytes")},
                     .share = {LongAt(in, "gpuShareMilli")}};
  in.List("gpus", [&](const json::value& gpu, const std::string& path) {
    const auto index = WholeNumber(gpu);
    if (!index || *index < 0 || *index > std::numeric_limits<int>::max()) {
      in.trouble().Say(path, "must be the index of a GPU");
    } else {
      grant.gpus.push_back(static_cast<int>(*index));
    }
  });
  return grant;
}

job::Replica DecodeReplica(const Reader& in) {
  job::Replica out;
  out.role = RoleAt(in, in.Text("role"), in.PathOf("role")).value_or(job::Role::kWorker);
  out.index = static_cast<int>(in.Int("index", 0, std::numeric_limits<int>::max()).value_or(0));
  out.incarnation = CountAt(in, "incarnation");
  out.phase = EnumAt<job::Phase>(in, "phase", kPhases);
  out.present = in.Flag("present");
  out.alive = in.Flag("alive");
  out.deleting = in.Flag("deleting");
  out.disrupted = in.Flag("disrupted");
  out.completed = in.Flag("completed");
  out.restarts = CountAt(in, "restarts");
  out.restart_at = TimeAt(in, "restartAt");
  out.grant = DecodeGrant(in);
  out.granted = TimeAt(in, "grantedAt");
  out.port = CountAt(in, "port");
  out.started = TimeAt(in, "startedAt");
  out.delete_by = TimeAt(in, "deleteBy");
  out.stop_asked = TimeAt(in, "stopAskedAt");
  out.kill_at = TimeAt(in, "killAt");
  out.killed = in.Flag("killed");
  out.streak = CountAt(in, "streak");
  out.exit = DecodeExit(in.Object("exit"));
  out.exit_taken = in.Flag("exitTaken");
  out.last_exit = DecodeExit(in.Object("lastExit"));
  out.hello = in.Flag("hello");
  out.step = LongAt(in, "step", -1);
  return out;
}

void DecodePondage(const Reader& in, job::Status& out) {
  out.stage = EnumAt<job::Stage>(in, "stage", kStages);
  out.drain = EnumAt<job::Drain>(in, "drain", kDrains);
  out.drain_deadline = TimeAt(in, "drainDeadline");
  out.not_before = TimeAt(in, "notBefore");
  out.queued = TimeAt(in, "queuedAt").value_or(Instant{});
  out.bound = TimeAt(in, "boundAt");
  if (const Reader reason = in.Object("reason"); reason.Present()) {
    out.reason = job::Reason{.id = reason.Text("id"),
                             .constraint = reason.Text("constraint"),
                             .message = reason.Text("message"),
                             .need = LongAt(reason, "need"),
                             .have = LongAt(reason, "have"),
                             .start_latest = TimeAt(reason, "startLatest"),
                             .values = reason.Texts("values"),
                             .help = reason.Text("help")};
  }
  if (const Reader slot = in.Object("reservation"); slot.Present()) {
    out.slot = job::Slot{.at = TimeAt(slot, "at").value_or(Instant{}), .grants = {}};
    slot.Objects("members", [&out](const Reader& member) {
      if (auto grant = DecodeGrant(member)) out.slot->grants.push_back(*std::move(grant));
    });
  }
  out.attempt = CountAt(in, "attempt");
  out.restarts = CountAt(in, "restarts");
  out.disruptions = CountAt(in, "disruptions");
  out.voluntary = CountAt(in, "voluntary");
  out.streak = CountAt(in, "streak");
  if (const Reader checkpoint = in.Object("checkpoint"); checkpoint.Present()) {
    out.checkpoint = job::Checkpoint{.step = LongAt(checkpoint, "step", -1),
                                     .at = TimeAt(checkpoint, "time").value_or(Instant{}),
                                     .path = checkpoint.Text("path")};
  }
  out.checkpoint_before = TimeAt(in, "checkpointBefore");
  const Reader cause = in.Object("cause");
  out.cause = DecodeExit(cause);
  out.cause_replica = cause.Text("replica");
  in.Objects("history", [&out](const Reader& past) {
    out.history.push_back({.attempt = CountAt(past, "attempt"),
                           .replica = past.Text("replica"),
                           .exit = DecodeExit(past).value_or(job::Exit())});
  });
  out.user_stop = in.Text("stoppedBy");
  in.Objects("replicas",
             [&out](const Reader& replica) { out.replicas.push_back(DecodeReplica(replica)); });
}

void DecodeConditions(const Reader& in, job::Status& out) {
  in.Objects("conditions", [&out](const Reader& condition) {
    out.conditions.push_back(
        {.type = condition.Text("type"),
         .is_true = condition.Text("status") == "True",
         .reason = condition.Text("reason"),
         .message = condition.Text("message"),
         .updated = TimeAt(condition, "lastUpdateTime").value_or(Instant{}),
         .changed = TimeAt(condition, "lastTransitionTime").value_or(Instant{})});
  });
}

// Adds the milliseconds back. A list of another length was written by somebody else: it is left
// out.
void DecodeMillis(const Reader& in, job::Status& out) {
  if (out.start_time) out.start_time->unix_ms += in.Int("startTime", 0, 999).value_or(0);
  if (out.completion_time) {
    out.completion_time->unix_ms += in.Int("completionTime", 0, 999).value_or(0);
  }
  const json::value* list = in.Find("conditions");
  if (list == nullptr || !list->is_array()) return;
  const json::array& rows = list->get_array();
  if (rows.size() != out.conditions.size()) return;
  const auto milli = [](const json::value& row, std::size_t column) -> std::int64_t {
    const json::array* pair = row.if_array();
    if (pair == nullptr || pair->size() != 2) return 0;
    const auto number = WholeNumber((*pair)[column]);
    return number && *number >= 0 && *number < 1000 ? *number : 0;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.conditions[i].updated.unix_ms += milli(rows[i], 0);
    out.conditions[i].changed.unix_ms += milli(rows[i], 1);
  }
}

}  // namespace

json::object EncodeStatus(const job::Status& status) {
  json::object out;
  json::array conditions;
  for (const job::Condition& condition : status.conditions) {
    conditions.push_back({{"type", condition.type},
                          {"status", condition.is_true ? "True" : "False"},
                          {"reason", condition.reason},
                          {"message", condition.message},
                          {"lastUpdateTime", FormatTime(condition.updated)},
                          {"lastTransitionTime", FormatTime(condition.changed)}});
  }
  out["conditions"] = std::move(conditions);
  json::object counts;
  for (const auto& [role, count] : status.counts) {
    counts[job::RoleName(role)] = EncodeCounts(count);
  }
  out["replicaStatuses"] = std::move(counts);
  if (status.start_time) out["startTime"] = FormatTime(*status.start_time);
  if (status.completion_time) out["completionTime"] = FormatTime(*status.completion_time);
  out["pondage"] = EncodePondage(status);
  return out;
}

base::Result<job::Status> DecodeStatus(const json::object& status) {
  Trouble trouble;
  const Reader in(status, "status", trouble);
  job::Status out;
  DecodeConditions(in, out);
  if (const Reader counts = in.Object("replicaStatuses"); counts.Present()) {
    for (const auto& member : *counts.raw()) {
      const std::string key(member.key());
      const auto role = RoleAt(counts, key, counts.PathOf(key));
      const Reader count = counts.Object(key);
      if (!role) continue;
      out.counts[*role] = {.active = CountAt(count, "active"),
                           .succeeded = CountAt(count, "succeeded"),
                           .failed = CountAt(count, "failed")};
    }
  }
  out.start_time = TimeAt(in, "startTime");
  out.completion_time = TimeAt(in, "completionTime");
  const Reader pondage = in.Object("pondage");
  DecodePondage(pondage, out);
  DecodeMillis(pondage.Object("millis"), out);
  if (trouble.Any()) return trouble.Fail();
  return out;
}

}  // namespace pondage::manifest
