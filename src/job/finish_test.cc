// The end of a job: who decides it, what is stopped and cleaned away, how it is shown.
#include <gtest/gtest.h>

#include "job/machine.h"
#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr Role kC = Role::kChief, kP = Role::kPs, kW = Role::kWorker;

Spec Job(const std::map<Role, int>& replicas, RestartPolicy policy = RestartPolicy::kNever) {
  Spec spec;
  for (const auto& [role, count] : replicas) spec.roles[role] = Replicas(count, policy);
  return spec;
}

std::string PodsOf(const SmallWorld& world) {
  std::string out;
  for (const Replica& replica : world.status.replicas) {
    if (!replica.present) continue;
    if (!out.empty()) out += ' ';
    out += fmt::format("{}-{}", RoleLabel(replica.role), replica.index);
  }
  return out;
}

class Finish : public testing::Test {
 protected:
  SmallWorld Running(const Spec& spec) {
    SmallWorld world(spec);
    world.Step();
    world.StartsAll();
    world.Step();
    world.Log();
    world.now = world.now + base::SecondsLong(1);
    return world;
  }
  // All that are left end as they do when they are stopped.
  void StopAll(SmallWorld& world, int code = 143) {
    for (int round = 0; round < 3; ++round) {
      world.now = world.now + base::SecondsLong(1);
      for (const Replica& replica : world.status.replicas) {
        if (replica.stop_asked || replica.killed) world.Exits(replica.role, replica.index, code);
      }
      world.Step();
    }
    for (const std::string& broken : world.broken) ADD_FAILURE() << broken;
  }
};

TEST_F(Finish, TheChiefsExitIsThePsJobs) {
  SmallWorld world = Running(Job({{kC, 1}, {kP, 2}, {kW, 1}}));
  world.Exits(kC, 0, 0);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Succeeded");
  EXPECT_EQ(world.Log(),
            "release chief-0.1 finished; stop ps-0.1 +5000; stop ps-1.1 +5000; "
            "stop worker-0.1 +5000")
      << "O14: GPUs are free when the job ends";
  EXPECT_EQ(world.status.counts[kP], (Counts{0, 2, 0})) << "active moves into succeeded";
  StopAll(world);
  EXPECT_EQ(world.Log(),
            "release ps-0.1 finished; release ps-1.1 finished; release worker-0.1 finished");
  EXPECT_EQ(world.status.stage, Stage::kEnded);
  EXPECT_EQ(world.Of(kP, 1).phase, Phase::kSucceeded);
  EXPECT_EQ(world.Of(kP, 1).exit->reason, "StoppedWithJob");
  EXPECT_EQ(world.Of(kP, 1).exit->code, 143) << "its real code";
  EXPECT_EQ(world.status.counts[kP], (Counts{0, 2, 0}));
}

TEST_F(Finish, MembersOfACollectiveMayEndByThemselves) {
  SmallWorld world = Running(Job({{kW, 2}}));
  world.Exits(kW, 0, 0);
  world.Step();
  EXPECT_EQ(world.Log(), "release worker-0.1 finished");
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(5));
  world.Pass(5'000);
  EXPECT_EQ(world.Log(), "stop worker-1.1 +30000");
  world.Exits(kW, 1, 0);
  world.Step();
  EXPECT_EQ(world.status.stage, Stage::kEnded);
  EXPECT_EQ(world.Of(kW, 1).exit->reason, "Completed");
}

TEST_F(Finish, WhoWaitsToRestartInPlaceShowsItsLastExit) {
  SmallWorld world = Running(Job({{kC, 1}, {kP, 1}, {kW, 1}}, RestartPolicy::kOnFailure));
  world.Exits(kW, 0, 3);
  world.Step();
  EXPECT_EQ(world.Of(kW).phase, Phase::kRunning);
  world.Exits(kC, 0, 0);
  world.Step();
  StopAll(world);
  EXPECT_EQ(world.status.stage, Stage::kEnded);
  EXPECT_EQ(world.Of(kW).phase, Phase::kFailed);
  EXPECT_EQ(world.Of(kW).exit->code, 3);
}

TEST_F(Finish, CleanPodPolicyDecidesWhatStays) {
  struct Row {
    const char* says;
    CleanPodPolicy policy;
    bool succeeds;
    const char* stay;
  };
  const Row rows[] = {
      {"None keeps all", CleanPodPolicy::kNone, true, "chief-0 ps-0 worker-0 worker-1"},
      {"Running deletes what still ran", CleanPodPolicy::kRunning, true, "chief-0 worker-0"},
      {"All deletes all", CleanPodPolicy::kAll, true, ""},
      {"", CleanPodPolicy::kNone, false, "chief-0 ps-0 worker-0 worker-1"},
      {"a failed Pod is evidence", CleanPodPolicy::kRunning, false, "chief-0 worker-0"},
      {"", CleanPodPolicy::kAll, false, ""}};
  for (const Row& row : rows) {
    Spec spec = Job({{kC, 1}, {kP, 1}, {kW, 2}});
    spec.clean_pods = row.policy;
    SmallWorld world = Running(spec);
    world.Exits(kW, 0, 0);
    world.Step();
    world.now = world.now + base::SecondsLong(1);
    world.Exits(kC, 0, row.succeeds ? 0 : 1);
    world.Step();
    StopAll(world);
    EXPECT_EQ(world.status.stage, Stage::kEnded);
    EXPECT_EQ(PodsOf(world), row.stay) << row.says << ' ' << world.Conditions();
    EXPECT_EQ(world.Of(kC).exit->code, row.succeeds ? 0 : 1) << "O15: its last status stays";
  }
}

TEST_F(Finish, ThePolicyMayStillBeChangedAfterTheEnd) {
  SmallWorld world = Running(Job({{kW, 1}}));
  world.Exits(kW, 0, 0);
  world.Step();
  EXPECT_EQ(PodsOf(world), "worker-0");
  world.spec.clean_pods = CleanPodPolicy::kAll;
  world.Step();
  EXPECT_EQ(PodsOf(world), "");
}

TEST_F(Finish, AGangsFailureKillsTheOthersAndNamesTheFirst) {
  SmallWorld world = Running(Job({{kW, 3}}));
  world.Exits(kW, 1, 2);
  world.Step();
  EXPECT_EQ(world.Log(), "kill worker-0.1; kill worker-2.1; release worker-1.1 failed");
  EXPECT_EQ(world.Last().message, "TFJob ml/mnist has failed because 1 Worker replica(s) failed.");
  StopAll(world, 137);
  EXPECT_EQ(world.status.counts[kW], (Counts{0, 0, 1})) << "those we killed did not fail";
  EXPECT_EQ(world.status.cause_replica, "worker-1");
  EXPECT_EQ(world.status.cause->code, 2) << "for the shell";
}

TEST_F(Finish, AFailureOfAPsJobLetsItsChiefSave) {
  SmallWorld world = Running(Job({{kC, 1}, {kP, 1}, {kW, 1}}));
  world.Exits(kW, 0, 1);
  world.Step();
  EXPECT_EQ(world.Log(), "stop chief-0.1 +30000; release worker-0.1 failed");
}

TEST_F(Finish, O13AQuietJobFailsAtItsDeadline) {
  Spec spec = Job({{kW, 2}});
  spec.deadline = base::SecondsLong(30);
  spec.clean_pods = CleanPodPolicy::kAll;
  SmallWorld world(spec);
  world.room = false;
  world.Pass(1'000'000);
  EXPECT_EQ(world.Conditions(), "Created") << "O16: waiting does not count";
  world.room = true;
  world.Step();
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(30));
  world.Pass(29'999);
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Pass(1);
  EXPECT_EQ(world.Conditions(), "Created Running=False Failed");
  EXPECT_EQ(world.Last().message,
            "Job mnist has failed because it was active longer than specified deadline");
  StopAll(world);
  EXPECT_EQ(PodsOf(world), "");
}

TEST_F(Finish, ADeadlineOfZeroHasPassed) {
  Spec spec = Job({{kW, 1}});
  spec.deadline = base::Millis{0};
  SmallWorld world(spec);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Failed");
}

TEST_F(Finish, TheDeadlineRunsOnOverRestartsAndAnewAfterASuspension) {
  Spec spec = Job({{kW, 2}}, RestartPolicy::kOnFailure);
  spec.deadline = base::SecondsLong(60);
  SmallWorld world = Running(spec);
  const base::Instant first = *world.status.start_time;
  world.Exits(kW, 0, 1);
  world.Exits(kW, 1, 1);
  world.Step();
  world.Pass(10'000);
  EXPECT_EQ(world.status.attempt, 2);
  EXPECT_EQ(world.status.start_time, first);
  EXPECT_EQ(world.wake, first + base::SecondsLong(60));
  world.StartsAll();
  world.spec.suspend = true;
  world.Step();
  world.Exits(kW, 0, 42);
  world.Exits(kW, 1, 42);
  world.Pass(1'000'000);
  EXPECT_FALSE(IsFinished(world.status)) << "suspended: not past";
  world.spec.suspend = false;
  world.room = false;
  world.Pass(1'000'000);
  EXPECT_FALSE(IsFinished(world.status)) << "waits for its GPUs";
  world.room = true;
  world.Step();
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(60));
}

TEST_F(Finish, SuccessBeatsALimitInTheSameSnapshot) {
  Spec spec = Job({{kW, 1}});
  spec.deadline = base::SecondsLong(30);
  SmallWorld world = Running(spec);
  world.now = world.now + base::SecondsLong(60);
  world.Exits(kW, 0, 0);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Succeeded");
}

TEST_F(Finish, TimeToLive) {
  struct Row {
    const char* says;
    std::optional<std::int64_t> ttl_s;
    int code;
    bool suspend;
    std::optional<std::int64_t> after_s;
  };
  const Row rows[] = {{"unset: kept", std::nullopt, 0, false, std::nullopt},
                      {"", 3, 0, false, 3},
                      {"a failed job too", 3, 1, false, 3},
                      {"0: at once", 0, 0, false, 0},
                      {"never while suspended", 3, 0, true, std::nullopt}};
  for (const Row& row : rows) {
    Spec spec = Job({{kW, 1}});
    if (row.ttl_s) spec.ttl = base::SecondsLong(*row.ttl_s);
    SmallWorld world = Running(spec);
    EXPECT_EQ(ExpiresAt(world.spec, world.status), std::nullopt) << "it runs";
    world.Exits(kW, 0, row.code);
    world.Step();
    world.spec.suspend = row.suspend;
    const auto expires = ExpiresAt(world.spec, world.status);
    std::optional<base::Instant> expected;
    if (row.after_s) expected = world.now + base::SecondsLong(*row.after_s);
    EXPECT_EQ(expires, expected) << row.says;
  }
}

TEST_F(Finish, AFinishedJobIgnoresSuspend) {
  SmallWorld world = Running(Job({{kW, 1}}));
  world.Exits(kW, 0, 0);
  world.Step();
  const Status before = world.status;
  world.spec.suspend = true;
  world.Step();
  EXPECT_EQ(world.status, before);
}

TEST_F(Finish, O21EndsAreToldOnce) {
  SmallWorld world = Running(Job({{kW, 1}}));
  world.notes.clear();
  world.Exits(kW, 0, 0);
  for (int pass = 0; pass < 3; ++pass) world.Step();
  EXPECT_EQ(world.notes,
            (std::vector<std::string>{"ExitedWithCode: Pod: ml.mnist-worker-0 exited with code 0",
                                      "TFJobSucceeded: TFJob ml/mnist successfully completed."}));
}

TEST_F(Finish, O5CreatedIsThereBeforeAnyChild) {
  const SmallWorld world(Job({{kW, 1}}));
  ASSERT_EQ(world.status.conditions.size(), 1u);
  EXPECT_EQ(world.status.conditions[0],
            (Condition{"Created", true, "TFJobCreated", "TFJob mnist is created.", world.now,
                       world.now}));
  EXPECT_EQ(world.status.counts.at(kW), Counts{});
}

TEST_F(Finish, ScaleInAfterCompletionsStrandsNoJob) {
  Spec spec = Job({{kP, 1}, {kW, 4}}, RestartPolicy::kOnFailure);
  spec.success = SuccessPolicy::kAllWorkers;
  SmallWorld world = Running(spec);
  world.Exits(kW, 0, 0);
  world.Exits(kW, 1, 0);
  world.Step();
  world.spec.roles[kW].replicas = 2;
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Succeeded");
}

}  // namespace
}  // namespace pondage::job
