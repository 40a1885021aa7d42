#include <gtest/gtest.h>

#include "base/random.h"
#include "manifest/object.h"
#include "manifest/tfjob.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

using base::Instant;
using base::Random;

// Fills a member with something that is not always its default.
class Any {
 public:
  explicit Any(std::uint64_t seed) : random_(seed) {}

  void operator()(bool& flag) { flag = random_.OneIn(2); }
  void operator()(int& number) {
    number =
        random_.OneIn(4) ? 0 : static_cast<int>(random_.Between(-2'147'483'648, 2'147'483'647));
  }
  void operator()(std::int64_t& number) {
    number = random_.OneIn(4) ? -1 : static_cast<std::int64_t>(random_.Next());
  }
  void operator()(std::string& text) {
    static const char* const kTexts[] = {"", "x", "a \"b\"\n\\", "\u00e4\u4e2d", "True", "null"};
    text = kTexts[random_.Below(std::size(kTexts))];
  }
  void operator()(Instant& at) {
    at.unix_ms = random_.Between(-62'167'219'200'000, 253'402'300'799'998);
    if (random_.OneIn(8)) at.unix_ms = random_.Between(-2000, 2000);
  }
  template <class T>
  void operator()(std::optional<T>& maybe) {
    maybe.reset();
    if (random_.OneIn(2)) (*this)(maybe.emplace());
  }
  // A member added to one of these stops the test from compiling, so that none is forgotten here.
  void operator()(job::Condition& condition) {
    auto& [type, is_true, reason, message, updated, changed] = condition;
    All(type, is_true, reason, message, updated, changed);
  }
  void operator()(job::Counts& counts) {
    auto& [active, succeeded, failed] = counts;
    All(active, succeeded, failed);
  }
  void operator()(job::Exit& exit) {
    auto& [code, reason, message, at, monotonic, boot] = exit;
    All(code, reason, message, at, monotonic, boot);
  }
  void operator()(job::Checkpoint& checkpoint) {
    auto& [step, at, path] = checkpoint;
    All(step, at, path);
  }
  void operator()(job::Reason& why) {
    auto& [id, constraint, message, need, have, start_latest, values, help] = why;
    All(id, constraint, message, need, have, start_latest, help);
    if (random_.OneIn(2)) values = {{"need", "2"}, {"holders", "a, b"}};
  }
  void operator()(fleet::Grant& grant) {
    auto& [node, gpus, cpu, memory, share] = grant;
    All(node, cpu.value, memory.value, share.value);
    gpus.resize(random_.Below(4));
    for (int& gpu : gpus) gpu = static_cast<int>(random_.Below(16));
  }
  void operator()(job::Slot& slot) {
    auto& [at, grants] = slot;
    All(at);
    grants.resize(random_.Below(3));
    for (fleet::Grant& grant : grants) {
      (*this)(grant);
      grant.cpu = {};
      grant.memory = {};
    }
  }
  void operator()(job::Past& past) {
    auto& [attempt, replica, exit] = past;
    All(attempt, replica, exit);
  }
  void operator()(job::Replica& replica) {
    auto& [role, index, incarnation, phase, present, alive, deleting, delete_by, disrupted,
           completed, restarts, restart_at, grant, granted, port, started, stop_asked, kill_at,
           killed, streak, exit, exit_taken, last_exit, hello, step] = replica;
    All(incarnation, present, alive, deleting, delete_by, disrupted, completed, restarts,
        restart_at, grant, granted, port, started, stop_asked, kill_at, killed, streak, exit,
        exit_taken, last_exit, hello, step);
    role = static_cast<base::Role>(random_.Below(base::kRoles));
    index = static_cast<int>(random_.Below(100));
    phase = static_cast<job::Phase>(random_.Below(4));
  }
  void operator()(job::Status& status) {
    auto& [conditions, counts, start_time, completion_time, stage, drain, drain_deadline,
           not_before, queued, bound, reason, slot, attempt, restarts, disruptions, voluntary,
           streak, checkpoint, checkpoint_before, cause, cause_replica, history, user_stop,
           replicas] = status;
    All(start_time, completion_time, drain_deadline, not_before, queued, bound, reason, slot,
        attempt, restarts, disruptions, voluntary, streak, checkpoint, checkpoint_before, cause,
        cause_replica, user_stop);
    stage = static_cast<job::Stage>(random_.Below(4));
    drain = static_cast<job::Drain>(random_.Below(7));
    history.resize(random_.Below(3));
    for (job::Past& past : history) (*this)(past);
    conditions.resize(random_.Below(4));
    for (job::Condition& condition : conditions) (*this)(condition);
    replicas.resize(random_.Below(4));
    for (job::Replica& replica : replicas) (*this)(replica);
    for (int i = 0; i < base::kRoles; ++i) {
      if (random_.OneIn(2)) (*this)(counts[static_cast<base::Role>(i)]);
    }
  }

 private:
  template <class... T>
  void All(T&... members) {
    ((*this)(members), ...);
  }

  Random random_;
};

TEST(Status, WhatIsSavedIsLoaded) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    job::Status status;
    Any any(seed);
    any(status);
    const std::string text = json::serialize(EncodeStatus(status));
    const auto parsed = ParseJson(text);
    ASSERT_TRUE(parsed) << "seed " << seed;
    const auto back = DecodeStatus(parsed->get_object());
    ASSERT_TRUE(back) << "seed " << seed << ": " << back.error().message;
    ASSERT_EQ(*back, status) << "seed " << seed << "\n" << text;
    ASSERT_EQ(json::serialize(EncodeStatus(*back)), text) << "seed " << seed;
  }
}

TEST(Status, AnUntouchedOneAndTheEndOfTimeAreKept) {
  EXPECT_EQ(*DecodeStatus(EncodeStatus({})), job::Status{});
  job::Status status;
  status.drain_deadline = base::kNever;
  status.not_before = base::kNever;
  EXPECT_EQ(*DecodeStatus(EncodeStatus(status)), status);
}

TEST(Status, LooksAsKubeflowWritesIt) {
  const Instant at{1'767'607'200'123};
  job::Status status;
  status.conditions = {{"Created", true, "TFJobCreated", "TFJob mnist is created.", at, at},
                       {"Running", false, "TFJobRunning", "TFJob ml/mnist is running.", at, at}};
  status.counts[base::Role::kWorker] = {.active = 0, .succeeded = 2, .failed = 0};
  status.counts[base::Role::kPs] = {};
  status.start_time = at;
  json::object object = EncodeStatus(status);
  object.erase("pondage");
  EXPECT_EQ(
      json::serialize(object),
      R"({"conditions":[{"type":"Created","status":"True","reason":"TFJobCreated",)"
      R"("message":"TFJob mnist is created.","lastUpdateTime":"2026-01-05T10:00:00Z",)"
      R"("lastTransitionTime":"2026-01-05T10:00:00Z"},{"type":"Running","status":"False",)"
      R"("reason":"TFJobRunning","message":"TFJob ml/mnist is running.",)"
      R"("lastUpdateTime":"2026-01-05T10:00:00Z","lastTransitionTime":"2026-01-05T10:00:00Z"}],)"
      R"("replicaStatuses":{"PS":{},"Worker":{"succeeded":2}},)"
      R"("startTime":"2026-01-05T10:00:00Z"})");
}

TEST(Status, OneOfKubeflowsOwnIsRead) {
  const auto parsed = ParseJson(
      R"({"conditions":[{"type":"Succeeded","status":"True","lastUpdateTime":"2026-01-05T10:09:00Z"}],
          "replicaStatuses":{"Worker":{"succeeded":2},"Chief":null},"startTime":null,
          "completionTime":"2026-01-05T10:09:00Z","lastReconcileTime":"2026-01-05T10:09:00Z"})");
  const auto status = DecodeStatus(parsed->get_object());
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_TRUE(status->conditions.at(0).is_true);
  EXPECT_EQ(status->counts.at(base::Role::kWorker).succeeded, 2);
  EXPECT_FALSE(status->start_time);
  EXPECT_EQ(status->completion_time, Instant{1'767'607'740'000});
  EXPECT_EQ(status->stage, job::Stage::kWaiting);
}

TEST(Status, WhatIsWrongIsNamed) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  const Row kRows[] = {
      {R"({"conditions":{}})", "status.conditions: must be a list, not an object"},
      {R"({"conditions":[1]})", "status.conditions[0]: must be an object, not 1"},
      {R"({"replicaStatuses":{"Boss":{}}})",
       "status.replicaStatuses.Boss: \"Boss\" is no replica type"},
      {R"({"pondage":{"stage":"gone"}})", "status.pondage.stage: \"gone\" is unknown"},
      {R"({"pondage":{"attempt":4294967296}})",
       "status.pondage.attempt: must be between -2147483648 and 2147483647, not 4294967296"},
      {R"({"pondage":{"attempt":1.5}})", "status.pondage.attempt: must be a whole number, not 1.5"},
      {R"({"pondage":{"queuedAt":"yesterday"}})",
       "status.pondage.queuedAt: \"yesterday\" is no RFC 3339 time such as 2026-01-05T10:00:00Z"},
      {R"({"pondage":{"replicas":[{"role":"worker","node":"n","gpus":[-1]}]}})",
       "status.pondage.replicas[0].gpus[0]: must be the index of a GPU"},
  };
  for (const Row& row : kRows) {
    const auto status = DecodeStatus(ParseJson(row.text)->get_object());
    ASSERT_FALSE(status) << row.text;
    EXPECT_EQ(status.error().message, row.message);
  }
}

}  // namespace
}  // namespace pondage::manifest
