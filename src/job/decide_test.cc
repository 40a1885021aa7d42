// One decision from one snapshot.
#include <gtest/gtest.h>

#include "job/machine.h"
#include "job/small_world.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

constexpr Role kC = Role::kChief, kM = Role::kMaster, kP = Role::kPs, kW = Role::kWorker;

// Replicas of one role in the snapshot, as "active/succeeded/failed" of the table.
struct Snapshot {
  int active = 0;
  int succeeded = 0;
  int failed = 0;
};

struct Given {
  std::map<Role, int> replicas;
  std::map<Role, Snapshot> seen;
  RestartPolicy policy = RestartPolicy::kNever;
  SuccessPolicy success = SuccessPolicy::kDefault;
  bool first_worker_ok = false;  // "w0 ok": others that succeeded have no recorded exit
  int code = 1;                  // of those that failed
};

void Place(SmallWorld& world, Role role, int index, Phase phase, const Given& given) {
  Replica& replica = world.Of(role, index);
  replica.phase = phase;
  replica.alive = phase == Phase::kRunning;
  replica.started = world.now;
  if (phase == Phase::kFailed)
    replica.exit = Exit{.code = given.code, .reason = "Error", .at = world.now};
  const bool recorded = phase == Phase::kSucceeded && role == kW && index == 0;
  if (recorded && given.first_worker_ok) replica.exit = Exit{.code = 0, .at = world.now};
}

SmallWorld After(const Given& given) {
  Spec spec;
  spec.success = given.success;
  for (const auto& [role, count] : given.replicas) spec.roles[role] = Replicas(count, given.policy);
  SmallWorld world(spec);
  world.Step();
  for (const auto& [role, seen] : given.seen) {
    int index = 0;
    for (int i = 0; i < seen.succeeded; ++i) Place(world, role, index++, Phase::kSucceeded, given);
    for (int i = 0; i < seen.active; ++i) Place(world, role, index++, Phase::kRunning, given);
    for (int i = 0; i < seen.failed; ++i) Place(world, role, index++, Phase::kFailed, given);
  }
  world.Step();
  return world;
}

TEST(Decide, TableOfUpstream) {
  struct Row {
    Given given;
    const char* conditions;
  };
  const std::map<Role, int> chief_worker = {{kC, 1}, {kW, 1}};
  const std::map<Role, int> worker_ps = {{kW, 4}, {kP, 2}};
  const std::map<Role, int> all = {{kC, 1}, {kW, 4}, {kP, 2}};
  constexpr RestartPolicy kNever = RestartPolicy::kNever;
  constexpr SuccessPolicy kAllWorkers = SuccessPolicy::kAllWorkers;
  const Row rows[] = {
      {{chief_worker, {{kC, {0, 1, 0}}, {kW, {0, 1, 0}}}}, "Created Succeeded"},
      {{chief_worker, {{kC, {1, 0, 0}}}}, "Created Running"},
      {{chief_worker, {{kC, {0, 0, 1}}}}, "Created Failed"},
      {{{{kW, 1}}, {{kW, {0, 0, 1}}}}, "Created Failed"},
      {{{{kW, 1}}, {{kW, {0, 1, 0}}}}, "Created Succeeded"},
      {{{{kW, 1}}, {{kW, {1, 0, 0}}}}, "Created Running"},
      {{{{kW, 3}}, {{kW, {0, 0, 1}}}}, "Created Failed"},
      {{worker_ps, {{kW, {2, 2, 0}}, {kP, {2, 0, 0}}}}, "Created Running"},
      {{worker_ps, {{kW, {2, 0, 2}}, {kP, {2, 0, 0}}}}, "Created Running=False Failed"},
      {{worker_ps, {{kW, {3, 1, 0}}, {kP, {2, 0, 0}}}, kNever, {}, true}, "Created Succeeded"},
      {{{{kW, 4}}, {{kW, {0, 4, 0}}}, kNever, kAllWorkers, true}, "Created Succeeded"},
      {{{{kW, 4}}, {{kW, {2, 1, 1}}}, kNever, kAllWorkers, true}, "Created Running=False Failed"},
      {{all, {{kC, {1, 0, 0}}, {kW, {0, 0, 4}}, {kP, {2, 0, 0}}}}, "Created Running=False Failed"},
      {{all, {{kC, {1, 0, 0}}, {kW, {0, 4, 0}}, {kP, {2, 0, 0}}}}, "Created Running"},
      {{all, {{kC, {0, 0, 1}}, {kW, {0, 4, 0}}, {kP, {2, 0, 0}}}}, "Created Failed"},
      {{all,
        {{kC, {0, 0, 1}}, {kW, {0, 0, 4}}, {kP, {2, 0, 0}}},
        RestartPolicy::kExitCode,
        {},
        false,
        130},
       "Created Restarting"},
  };
  int at = 0;
  for (const Row& row : rows) {
    const SmallWorld world = After(row.given);
    EXPECT_EQ(world.Conditions(), row.conditions) << "row " << at;
    EXPECT_TRUE(world.broken.empty()) << "row " << at << ": " << world.broken.front();
    ++at;
  }
}

TEST(Decide, ASucceededPodWithoutARecordedExitDoesNotEndTheJob) {
  const SmallWorld world =
      After({.replicas = {{kW, 4}, {kP, 2}}, .seen = {{kW, {3, 1, 0}}, {kP, {2, 0, 0}}}});
  EXPECT_EQ(world.Conditions(), "Created Running");
}

TEST(Decide, SuccessPolicyIsIgnoredBesideAMaster) {
  const SmallWorld world = After({.replicas = {{kM, 1}, {kW, 2}},
                                  .seen = {{kM, {0, 1, 0}}, {kW, {2, 0, 0}}},
                                  .success = SuccessPolicy::kAllWorkers});
  EXPECT_EQ(world.Conditions(), "Created Succeeded");
}

TEST(Decide, APsAloneNeverRunsAndNeverSucceeds) {
  const SmallWorld world = After({.replicas = {{kP, 2}}, .seen = {{kP, {1, 1, 0}}}});
  EXPECT_EQ(world.Conditions(), "Created");
}

TEST(Decide, TheFailingTypeIsNamedWithItsCount) {
  const SmallWorld world =
      After({.replicas = {{kW, 4}, {kP, 2}}, .seen = {{kW, {2, 0, 2}}, {kP, {1, 0, 1}}}});
  EXPECT_EQ(world.Last().message, "TFJob ml/mnist has failed because 1 PS replica(s) failed.");
  EXPECT_EQ(world.Last().reason, "TFJobFailed");
}

TEST(Decide, APermanentCodeHasItsOwnWords) {
  SmallWorld world =
      After({.replicas = {{kW, 1}}, .seen = {{kW, {0, 0, 1}}}, .policy = RestartPolicy::kExitCode});
  EXPECT_EQ(world.Conditions(), "Created Failed");
  EXPECT_EQ(world.Last().message, "job \"mnist\" is failing because \"Worker\" replica(s) failed.");
  EXPECT_TRUE(world.status.completion_time.has_value()) << "O7";
}

TEST(Decide, O9CountsLeaveOutWhatIsBeingDeleted) {
  Spec spec;
  spec.roles[kW] = Replicas(7, RestartPolicy::kOnFailure);
  Status status;
  const Phase phases[] = {Phase::kRunning, Phase::kSucceeded, Phase::kSucceeded, Phase::kSucceeded,
                          Phase::kFailed,  Phase::kFailed,    Phase::kRunning};
  for (int index = 0; index < 7; ++index) {
    Replica replica{.role = kW, .index = index, .phase = phases[index], .present = true};
    replica.deleting = index == 6;
    status.replicas.push_back(replica);
  }
  Recount(spec, status);
  EXPECT_EQ(status.counts[kW], (Counts{1, 3, 2}));
}

TEST(Decide, O6SuccessIsJudgedBeforeAFailureInTheSameSnapshot) {
  const SmallWorld world = After({.replicas = {{kC, 1}, {kW, 2}, {kP, 1}},
                                  .seen = {{kC, {0, 1, 0}}, {kW, {1, 0, 1}}, {kP, {0, 0, 1}}}});
  EXPECT_EQ(world.Conditions(), "Created Succeeded");
}

TEST(Decide, O8AFailureIsNotMaskedByARestart) {
  Spec spec;
  spec.roles[kC] = Replicas(1);
  spec.roles[kP] = Replicas(1, RestartPolicy::kNever);
  spec.roles[kW] = Replicas(1, RestartPolicy::kOnFailure);
  SmallWorld world(spec);
  world.Step();
  world.StartsAll();
  world.Step();
  world.PodDeleted(kW, 0);
  world.Exits(kW, 0, 137);
  world.Exits(kP, 0, 1);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Failed");
  EXPECT_EQ(world.Last().message, "TFJob ml/mnist has failed because 1 PS replica(s) failed.");
}

}  // namespace
}  // namespace pondage::job
