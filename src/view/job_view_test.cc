#include "view/job_view.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "terminal/text.h"
#include "view/pool_view.h"
#include "view/top_page.h"

namespace pondage::view {
namespace {

json::value Job(const std::string& conditions, const std::string& pondage, bool suspend = false,
                bool deleting = false) {
  const std::string text =
      std::string(
          R"({"metadata":{"name":"mnist-7","namespace":"ml","uid":"u1","creationTimestamp":"2026-12-01T07:00:00Z")") +
      (deleting ? R"(,"deletionTimestamp":"2026-12-01T08:00:00Z")" : "") +
      R"(,"annotations":{"pondage.dev/user":"li"}},"spec":{"runPolicy":{"suspend":)" +
      (suspend ? "true" : "false") +
      R"(,"schedulingPolicy":{"queue":"nlp"}},"tfReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[
        {"name":"tensorflow","image":"tf:1","resources":{"limits":{"nvidia.com/gpu":"2"}}}]}}},
        "Evaluator":{"replicas":0,"template":{"spec":{"containers":[{"name":"tensorflow"}]}}}}},
        "status":{"conditions":[)" +
      conditions + R"(],"pondage":)" + pondage + "}}";
  return json::parse(text);
}

std::string True(const std::string& type) {
  return R"({"type":")" + type + R"(","status":"True","message":"m"})";
}

TEST(JobView, TheLastRestarts) {
  const JobView job = ViewJob(Job(True("Running"), R"({"stage":"bound","attempt":3,"history":[
      {"attempt":1,"replica":"worker-1","code":137,"reason":"OOMKilled","message":"8 GiB",
       "time":"2026-12-01T07:30:00Z"},
      {"attempt":2,"replica":"worker-0","code":1,"reason":"Error","time":"2026-12-01T08:30:00Z"}]})"));
  ASSERT_EQ(job.history.size(), 2u);
  EXPECT_EQ(job.history[0].attempt, 1);
  EXPECT_EQ(job.history[0].replica, "worker/1");
  EXPECT_EQ(job.history[0].code, 137);
  EXPECT_EQ(job.history[0].reason, "OOMKilled");
  EXPECT_EQ(job.history[0].message, "8 GiB");
  EXPECT_EQ(job.history[1].at, base::Instant{1'796'113'800'000});
  EXPECT_TRUE(ViewJob(Job(True("Running"), "{}")).history.empty());
}

TEST(JobView, StatesFromConditionsAndStage) {
  struct Row {
    std::string_view says;
    json::value job;
    JobState want;
  };
  const Row rows[] = {
      {"just stored", Job("", R"({"stage":"waiting"})"), JobState::kWaiting},
      {"no status at all", Job("", "{}"), JobState::kWaiting},
      {"bound, nothing runs yet", Job(True("Created"), R"({"stage":"bound","attempt":1})"),
       JobState::kStarting},
      {"running", Job(True("Running"), R"({"stage":"bound","attempt":1})"), JobState::kRunning},
      {"asked to leave for another",
       Job(True("Running"), R"({"stage":"draining","drain":"yield"})"), JobState::kSaving},
      {"a member died", Job(True("Running"), R"({"stage":"draining","drain":"restart"})"),
       JobState::kRestarting},
      {"waits out its restart delay", Job(True("Restarting"), R"({"stage":"waiting","attempt":1})"),
       JobState::kRestarting},
      {"bound again after a restart", Job(True("Restarting"), R"({"stage":"bound","attempt":2})"),
       JobState::kStarting},
      {"its only member waits out its delay",
       Job(True("Running"), R"({"stage":"bound","replicas":[{"role":"Worker","index":0,
           "startedAt":"2026-12-01T07:00:00Z","restartAt":"2026-12-01T07:01:00Z"}]})"),
       JobState::kRestarting},
      {"its only member is back",
       Job(True("Running"), R"({"stage":"bound","replicas":[{"role":"Worker","index":0,
           "startedAt":"2026-12-01T07:01:00Z","restartAt":"2026-12-01T07:01:00Z"}]})"),
       JobState::kRunning},
      {"one of two members waits out its delay",
       Job(True("Running"), R"({"stage":"bound","replicas":[
           {"role":"Worker","index":0,"startedAt":"2026-12-01T07:00:00Z"},
           {"role":"Worker","index":1,"startedAt":"2026-12-01T07:00:00Z",
            "restartAt":"2026-12-01T07:01:00Z"}]})"),
       JobState::kRunning},
      {"gave way and waits again", Job(True("Suspended"), R"({"stage":"waiting","attempt":2})"),
       JobState::kRequeued},
      {"is being stopped", Job(True("Running"), R"({"stage":"draining","drain":"suspend"})", true),
       JobState::kStopping},
      {"stopped", Job(True("Suspended"), R"({"stage":"waiting","attempt":1})", true),
       JobState::kStopped},
      {"a kubeflow job of another host", Job(True("Running"), "{}"), JobState::kRunning},
      {"done", Job(True("Succeeded"), R"({"stage":"ended"})"), JobState::kSucceeded},
      {"failed, being deleted", Job(True("Failed"), R"({"stage":"ended"})", false, true),
       JobState::kFailed},
      {"deleted while it ran", Job(True("Running"), R"({"stage":"bound"})", false, true),
       JobState::kDeleting},
  };
  for (const Row& row : rows) EXPECT_EQ(ViewJob(row.job).state, row.want) << row.says;
}

TEST(JobView, NumbersOfTheSpecification) {
  const JobView job = ViewJob(Job("", R"({"stage":"waiting"})"));
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.queue, "nlp");
  EXPECT_EQ(job.user, "li");
  EXPECT_EQ(job.image, "tf:1");
  EXPECT_TRUE(job.collective()) << "two workers";
  EXPECT_EQ(job.asked, (std::vector<std::pair<std::string, int>>{{"worker", 2}}))
      << "a role of 0 is absent";
}

constexpr const char* kWaiting =
    R"({"stage":"waiting","queuedAt":"2026-12-01T07:00:00Z","reason":{"id":"PND-Q007",
  "constraint":"fragmented","message":"no machine has 8 free GPUs","need":8,"have":6,"startLatest":"2026-12-01T09:00:00Z"}})";

TEST(JobView, WaitingSaysWhy) {
  const JobView job = ViewJob(Job("", kWaiting));
  const base::Instant now = *terminal::ParseRfc3339("2026-12-01T07:41:00Z");
  EXPECT_EQ(ReasonText(job, terminal::Screen(), now), "Q007 no machine has 8 free GPUs");
  const json::object item = JobItem(job, now);
  EXPECT_EQ(item.at("waitSeconds"), 2460);
  EXPECT_EQ(item.at("reason").at("id"), "Q007");
  EXPECT_EQ(item.at("reason").at("have"), 6);
  EXPECT_EQ(item.at("startLatest"), "2026-12-01T09:00:00Z");
  EXPECT_TRUE(item.at("step").is_null()) << "unknown is null";
  EXPECT_TRUE(item.at("exitCode").is_null());
  EXPECT_EQ(item.at("state"), "waiting");
}

// "Saved" is said of a checkpoint that was seen after the notice, never of an exit code alone.
TEST(JobView, AnOldCheckpointIsNotCalledSaved) {
  const auto saved = [](const char* before) {
    const std::string seen =
        R"("checkpoint":{"step":9,"time":"2026-12-01T07:37:00Z","path":"/ck"}})";
    return ViewJob(Job(True("Suspended"), R"({"stage":"waiting",)" + (before + seen), true))
        .saved_since_asked;
  };
  EXPECT_TRUE(saved("")) << "there was none before";
  EXPECT_TRUE(saved(R"("checkpointBefore":"2026-12-01T07:36:59Z",)"));
  EXPECT_FALSE(saved(R"("checkpointBefore":"2026-12-01T07:37:00Z",)"));
  EXPECT_FALSE(ViewJob(Job("", R"({"stage":"waiting"})")).saved_since_asked);
}

TEST(JobView, ATimeLimitCountsFromTheStart) {
  const auto ends_by = [](const char* started, const char* limit) {
    return ViewJob(json::parse(fmt::format(
                       R"({{"spec":{{"runPolicy":{{"activeDeadlineSeconds":{}}}}},
                           "status":{{{}"conditions":[]}}}})",
                       limit, started)))
        .ends_by;
  };
  const char* started = R"("startTime":"2026-12-01T07:00:00Z",)";
  EXPECT_EQ(ends_by(started, "3600"), terminal::ParseRfc3339("2026-12-01T08:00:00Z"));
  EXPECT_EQ(ends_by("", "3600"), std::nullopt) << "it has not begun";
  EXPECT_EQ(ends_by(started, "9223372036854775807"), std::nullopt);
}

TEST(JobView, RunningSaysHowFar) {
  const JobView job = ViewJob(
      Job(True("Running"), R"({"stage":"bound","attempt":1,"restarts":2,"checkpoint":{"step":5000,
    "time":"2026-12-01T07:37:00Z","path":"/ck"},"replicas":[{"role":"Worker","index":0,"phase":"Running","node":"gpu01","gpus":[0,1],"step":5200}]})"));
  EXPECT_EQ(ReasonText(job, terminal::Screen(), *terminal::ParseRfc3339("2026-12-01T07:41:00Z")),
            "step 5200, saved 4m ago, 2 restarts");
  ASSERT_EQ(job.replicas.size(), 1u);
  EXPECT_EQ(job.replicas[0].pod, "mnist-7-worker-0");
  EXPECT_EQ(job.replicas[0].gpus, (std::vector<std::int64_t>{0, 1}));
}

// During a restart delay people are told why nothing runs and until when.
TEST(JobView, ARestartDelaySaysWhyAndWhen) {
  const auto clock = [](const char* at) {
    return terminal::ClockText(*terminal::ParseRfc3339(at));
  };
  const base::Instant now = *terminal::ParseRfc3339("2026-12-01T07:00:30Z");
  const JobView alone = ViewJob(
      Job(True("Running"), R"({"stage":"bound","restarts":1,"replicas":[{"role":"Worker","index":0,
        "startedAt":"2026-12-01T07:00:00Z","restartAt":"2026-12-01T07:01:00Z",
        "lastExit":{"code":3,"reason":"Error"}}]})"));
  EXPECT_EQ(ReasonText(alone, terminal::Screen(), now),
            "worker/0 exited 3, starts again at " + clock("2026-12-01T07:01:00Z") + ", restart 1")
      << "that restart is still to come";
  const JobView gang = ViewJob(
      Job(True("Restarting"), R"({"stage":"waiting","attempt":1,"notBefore":"2026-12-01T07:02:00Z",
        "cause":{"code":137,"reason":"OOMKilled","replica":"worker-1"}})"));
  EXPECT_EQ(ReasonText(gang, terminal::Screen(), now),
            "worker/1 exited 137 OOMKilled, starts again at " + clock("2026-12-01T07:02:00Z") +
                ", restart 1");
  JobView limited = gang;
  limited.restarts = 1;
  limited.restart_limit = 3;
  EXPECT_TRUE(ReasonText(limited, terminal::Screen(), now).ends_with(", restart 2 of 3"));
}

// Failures are counted when they happen; a restart counts when it is carried out.
TEST(JobView, RestartsAreThoseCarriedOut) {
  struct Row {
    const char *what, *conditions, *ours;
    std::int64_t want;
  };
  const std::string spent =
      R"({"type":"Failed","status":"True","message":"Job mnist-7 has failed because it has reached the specified backoff limit"})";
  const std::string running = True("Running");
  const std::string restarting = True("Restarting");
  const std::string failed = True("Failed");
  const Row rows[] = {
      {"gave up after three", spent.c_str(), R"({"stage":"ended","restarts":4})", 3},
      {"gave up at once", spent.c_str(), R"({"stage":"ended","restarts":1})", 0},
      {"failed for good after two", failed.c_str(), R"({"stage":"ended","restarts":2})", 2},
      {"waits for its first", restarting.c_str(),
       R"({"stage":"waiting","restarts":1,"notBefore":"2026-12-01T07:02:00Z"})", 0},
      {"runs again", running.c_str(), R"({"stage":"bound","restarts":1})", 1},
      {"one of two is down", running.c_str(), R"({"stage":"bound","restarts":3,"replicas":[
         {"role":"Worker","index":0,"restarts":2,"restartAt":"2026-12-01T07:02:00Z"},
         {"role":"Worker","index":1,"restarts":1}]})",
       2},
  };
  for (const Row& row : rows) {
    const JobView job = ViewJob(Job(row.conditions, row.ours));
    EXPECT_EQ(job.restarts, row.want) << row.what;
    EXPECT_EQ(JobItem(job, {}).at("restarts"), row.want) << row.what;
    if (job.replicas.size() == 2) {
      EXPECT_EQ(job.replicas[0].restarts, 1);
      EXPECT_EQ(job.replicas[1].restarts, 1);
    }
  }
}

// What could not be started wrote no line: its reason is told wherever the job is.
TEST(JobView, WhatCannotStartSaysWhy) {
  const terminal::Screen screen;
  const JobView gang =
      ViewJob(Job(True("Restarting"), R"({"stage":"waiting","attempt":1,"restarts":1,
        "cause":{"code":128,"reason":"StartFailed","message":"/data is gone","replica":"worker-1"}})"));
  EXPECT_EQ(ReasonText(gang, screen, {}), "worker/1 cannot start: /data is gone");
  EXPECT_EQ(StartTrouble(gang, screen), "worker/1 cannot start: /data is gone");
  const JobView alone = ViewJob(Job(True("Running"),
                                    R"({"stage":"bound","restarts":1,"replicas":[{"role":"Worker",
        "index":0,"restartAt":"1970-01-01T00:00:00Z",
        "lastExit":{"code":128,"reason":"StartFailed","message":"/data is gone"}}]})"));
  EXPECT_TRUE(ReasonText(alone, screen, {}).starts_with("worker/0 cannot start: /data is gone, "));
  EXPECT_EQ(StartTrouble(alone, screen), "worker/0 cannot start: /data is gone");
  const JobView again = ViewJob(Job(True("Running"), R"({"stage":"bound","attempt":2,
        "cause":{"code":128,"reason":"StartFailed","message":"/data is gone","replica":"worker-1"},
        "replicas":[{"role":"Worker","index":0,"startedAt":"2026-12-01T07:00:00Z",
        "lastExit":{"code":128,"reason":"StartFailed","message":"/data is gone"}}]})"));
  EXPECT_EQ(StartTrouble(again, screen), "") << "it runs again";
}

TEST(JobView, FailedSaysWhoWasFirst) {
  const JobView job = ViewJob(
      Job(True("Failed"),
          R"({"stage":"ended","cause":{"code":137,"reason":"OOMKilled","replica":"worker-1"}})"));
  EXPECT_EQ(job.exit_code, 137);
  EXPECT_EQ(ReasonText(job, terminal::Screen(), {}), "worker/1 exited 137 OOMKilled");
  EXPECT_EQ(ViewJob(Job(True("Succeeded"), R"({"stage":"ended"})")).exit_code, 0);
}

TEST(JobView, SurvivesNonsense) {
  for (
      const char* text :
      {"{}", "[]", "null", R"({"metadata":3,"spec":"x","status":{"conditions":{},"pondage":[]}})",
       R"({"status":{"pondage":{"replicas":[3,{"gpus":"x"}],"reason":[]}},"spec":{"tfReplicaSpecs":[1]}})"}) {
    const JobView job = ViewJob(json::parse(text));
    EXPECT_EQ(job.gpus, 0) << text;
    EXPECT_FALSE(ReasonText(job, terminal::Screen(), {}).size() > 100) << text;
  }
}

json::value Node() {
  return json::parse(R"({"metadata":{"name":"gpu01","annotations":{"pondage.dev/gpus":
    "[{\"id\":\"GPU-a\",\"type\":\"A100\",\"memoryBytes\":85899345920},{\"id\":\"GPU-b\",\"type\":\"A100\",\"memoryBytes\":85899345920,\"foreign\":true}]"}},
    "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"allocatable":{"cpu":"64","memory":"512Gi"}}})");
}

PoolView Pool() {
  const json::value readings = json::parse(R"({"driver":"550.54","cuda":"12.4","gpus":[
    {"id":"GPU-a","utilisationPercent":91,"memoryUsedBytes":42949672960,"temperatureC":61,"powerW":300},
    {"id":"GPU-b","utilisationPercent":-1,"memoryUsedBytes":0,"temperatureC":-1,"powerW":-1}]})");
  const json::value job = Job(
      True("Running"),
      R"({"stage":"bound","attempt":1,"replicas":[{"role":"Worker","index":0,"node":"gpu01","gpus":[0]}]})");
  return MakePool({Node()}, readings, {job, Job(True("Succeeded"), "{}")});
}

TEST(PoolView, WhoHoldsWhat) {
  const PoolView pool = Pool();
  ASSERT_EQ(pool.nodes.size(), 1u);
  EXPECT_EQ(pool.nodes[0].health, "cordoned");
  EXPECT_EQ(pool.nodes[0].cpu_milli, 64'000);
  ASSERT_EQ(pool.nodes[0].gpus.size(), 2u);
  EXPECT_EQ(pool.nodes[0].gpus[0].job, "mnist-7");
  EXPECT_EQ(pool.nodes[0].gpus[0].user, "li");
  EXPECT_EQ(pool.nodes[0].gpus[0].utilisation_percent, 91);
  EXPECT_TRUE(pool.nodes[0].gpus[1].foreign);
  EXPECT_FALSE(pool.nodes[0].gpus[1].utilisation_percent) << "-1 is unknown, not 0";
  EXPECT_EQ(pool.jobs.size(), 1u) << "finished ones are not there";
}

// As a limited token sees it: that a GPU is held, not by whom.
TEST(PoolView, WhatOthersHoldIsHeld) {
  const json::value readings = json::parse(
      R"({"held":[{"node":"gpu01","index":0},{"node":"gpu01","index":9},{"node":"x","index":0},3]})");
  const PoolView pool = MakePool({Node()}, readings, {});
  EXPECT_TRUE(pool.nodes[0].gpus[0].held);
  EXPECT_FALSE(pool.nodes[0].gpus[1].held);
  std::string text;
  for (const std::string& line : TopLines(pool, {}, terminal::Screen(), {}, 0)) text += line + "\n";
  EXPECT_NE(text.find("1 of 2 GPUs held"), std::string::npos) << text;
  EXPECT_NE(text.find("held by others"), std::string::npos) << text;
}

TEST(Top, OnePageFitsTheScreen) {
  terminal::Screen screen;
  screen.columns = 120;
  TopState state;
  const auto all = TopLines(Pool(), state, screen, {}, 0);
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  EXPECT_NE(text.find("driver 550.54"), std::string::npos) << text;
  EXPECT_NE(text.find("91%"), std::string::npos);
  EXPECT_NE(text.find("li  mnist-7 worker/0"), std::string::npos);
  EXPECT_NE(text.find("stranger's process"), std::string::npos);
  EXPECT_LE(TopLines(Pool(), state, screen, {}, 4).size(), 4u);
  state.show_gpus = false;
  EXPECT_EQ(TopLines(Pool(), state, screen, {}, 0).size(), 3u) << "title, heading, one job";
  state.stale = "14:03:07";
  EXPECT_NE(TopLines(Pool(), state, screen, {}, 0)[0].find("STALE since 14:03:07"),
            std::string::npos);
}

TEST(Top, Sparklines) {
  EXPECT_EQ(Sparkline({0, 50, 100}, true), "_+@");
  EXPECT_EQ(Sparkline({0, 100}, false), "▁█");
}

}  // namespace
}  // namespace pondage::view
