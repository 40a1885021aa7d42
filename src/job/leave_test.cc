// Leaving: notices, graces, exit 42, suspend and resize, and the way back to the queue.
#include <gtest/gtest.h>

#include "job/machine.h"
#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr Role kC = Role::kChief, kP = Role::kPs, kW = Role::kWorker, kE = Role::kEvaluator;

Spec Job(const std::map<Role, int>& replicas, RestartPolicy policy = RestartPolicy::kOnFailure) {
  Spec spec;
  for (const auto& [role, count] : replicas) spec.roles[role] = Replicas(count, policy);
  return spec;
}

class Leaving : public testing::Test {
 protected:
  SmallWorld Running(const Spec& spec) {
    SmallWorld world(spec);
    world.Step();
    world.StartsAll();
    world.Step();
    world.Log();
    world.notes.clear();
    return world;
  }
  void Yield(SmallWorld& world) {
    AskToYield(world.spec, world.status, world.now);
    world.Step();
  }
  void Expect(SmallWorld& world, const std::string& log) {
    world.Step();
    EXPECT_EQ(world.Log(), log);
    for (const std::string& broken : world.broken) ADD_FAILURE() << broken;
  }
};

TEST_F(Leaving, ACollectiveIsAskedTogetherAndComesBackToItsPlace) {
  Spec spec = Job({{kW, 2}, {kE, 1}});
  spec.roles[kW].grace = base::SecondsLong(120);
  SmallWorld world = Running(spec);
  world.room = false;
  world.status.checkpoint = Checkpoint{.step = 5, .at = base::Instant{1}};
  Yield(world);
  EXPECT_EQ(world.Log(),
            "stop worker-0.1 +120000; stop worker-1.1 +120000; stop evaluator-0.1 +120000");
  EXPECT_EQ(world.status.checkpoint_before, base::Instant{1});
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Exits(kW, 0, 42);
  Expect(world, "release worker-0.1 preempted");
  world.Exits(kW, 1, 1);
  world.Exits(kE, 0, 143);
  Expect(world,
         "release worker-1.1 preempted; release evaluator-0.1 preempted; remove worker-0.1; "
         "remove worker-1.1; remove evaluator-0.1");
  EXPECT_EQ(world.Conditions(), "Created Running=False Suspended");
  EXPECT_TRUE(world.wants) << "at once, without a delay";
  EXPECT_EQ(world.status.queued, base::Instant{kStartOfTime});
  EXPECT_EQ(world.status.restarts, 0);
  world.room = true;
  const base::Instant first_start = *world.status.start_time;
  world.now = world.now + base::SecondsLong(60);
  Expect(world, "bind worker-0.2; bind worker-1.2; bind evaluator-0.2");
  EXPECT_EQ(world.Conditions(), "Created Running=False Suspended=False");
  EXPECT_EQ(world.Last().reason, "TFJobResumed");
  EXPECT_EQ(world.status.start_time, first_start + base::SecondsLong(60));
}

TEST_F(Leaving, WhoDoesNotGoIsKilledAtTheDeadline) {
  SmallWorld world = Running(Job({{kW, 2}}));
  world.room = false;
  Yield(world);
  world.Log();
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(30));
  world.Pass(30'000);
  EXPECT_EQ(world.Log(), "kill worker-0.1; kill worker-1.1");
  world.Exits(kW, 0, 137);
  world.Exits(kW, 1, 137);
  world.Step();
  EXPECT_EQ(world.status.stage, Stage::kWaiting);
  EXPECT_EQ(world.status.restarts, 0) << "we sent it";
}

TEST_F(Leaving, AMemberBeforeItsFirstStepIsKilledAtOnce) {
  SmallWorld world = Running(Job({{kW, 2}}));
  world.Says(kW, 0, -1);
  world.Says(kW, 1, 3);
  Yield(world);
  EXPECT_EQ(world.Log(), "kill worker-0.1; stop worker-1.1 +30000");
}

TEST_F(Leaving, APsJobLetsItsChiefGoFirst) {
  SmallWorld world = Running(Job({{kC, 1}, {kP, 1}, {kW, 2}}));
  world.room = false;
  Yield(world);
  EXPECT_EQ(world.Log(), "stop chief-0.1 +30000");
  world.Exits(kC, 0, 42);
  Expect(world,
         "release chief-0.1 preempted; stop ps-0.1 +5000; stop worker-0.1 +5000; "
         "stop worker-1.1 +5000");
  world.Pass(5'000);
  EXPECT_EQ(world.Log(), "kill ps-0.1; kill worker-0.1; kill worker-1.1");
}

TEST_F(Leaving, WithoutAChiefTheWorkersGoFirst) {
  SmallWorld world = Running(Job({{kP, 1}, {kW, 2}}));
  Yield(world);
  EXPECT_EQ(world.Log(), "stop worker-0.1 +30000; stop worker-1.1 +30000");
  world.Exits(kW, 0, 42);
  Expect(world, "release worker-0.1 preempted");
  world.Exits(kW, 1, 42);
  Expect(world, "stop ps-0.1 +5000; release worker-1.1 preempted");
}

TEST_F(Leaving, WhoExitsZeroWhenAskedHadFinished) {
  SmallWorld world = Running(Job({{kW, 2}}));
  Yield(world);
  world.Exits(kW, 1, 0);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running") << "worker 0 decides";
  world.Exits(kW, 0, 0);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Succeeded");
  EXPECT_EQ(world.status.stage, Stage::kEnded);
}

TEST_F(Leaving, CreatedSuspended) {
  Spec spec = Job({{kC, 1}, {kW, 1}});
  spec.suspend = true;
  SmallWorld world(spec);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Suspended");
  EXPECT_EQ(world.Log(), "");
  EXPECT_FALSE(world.status.start_time.has_value());
  EXPECT_FALSE(world.wants);
}

TEST_F(Leaving, SuspendedWhileRunningAndResumed) {
  Spec spec = Job({{kC, 1}, {kW, 1}});
  spec.clean_pods = CleanPodPolicy::kNone;
  SmallWorld world = Running(spec);
  const auto started = world.status.start_time;
  world.spec.suspend = true;
  Expect(world, "stop chief-0.1 +30000; stop worker-0.1 +30000");
  world.Exits(kC, 0, 143);
  world.Exits(kW, 0, 143);
  Expect(world,
         "release chief-0.1 stopped; release worker-0.1 stopped; remove chief-0.1; "
         "remove worker-0.1");
  EXPECT_EQ(world.Conditions(), "Created Running=False Suspended");
  EXPECT_EQ(world.status.conditions[1].reason, "TFJobSuspended");
  EXPECT_EQ(world.Last().message, "TFJob mnist is suspended.");
  EXPECT_EQ(world.status.start_time, started);
  EXPECT_EQ(world.status.counts[kC], Counts{});
  EXPECT_FALSE(world.wants);
  world.Pass(1'000'000);
  EXPECT_EQ(world.Log(), "");

  world.spec.suspend = false;
  Expect(world, "bind chief-0.2; bind worker-0.2");
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Suspended=False Running");
  EXPECT_EQ(world.status.start_time, world.now);
  EXPECT_EQ(world.notes.back(), "TFJobResumed: TFJob mnist is resumed.");
}

TEST_F(Leaving, AResumedJobThatWaitsIsNotSuspendedAnyMore) {
  Spec spec = Job({{kW, 2}});
  spec.suspend = true;
  SmallWorld world(spec);
  world.room = false;
  world.Step();
  world.spec.suspend = false;
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Suspended=False");
  EXPECT_TRUE(world.wants);
}

TEST_F(Leaving, SuspensionKeepsARestartingEntry) {
  SmallWorld world = Running(Job({{kW, 2}}));
  world.Exits(kW, 0, 1);
  world.Step();
  world.spec.suspend = true;
  world.Exits(kW, 1, 137);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Restarting Suspended");
  world.Pass(20'000);
  EXPECT_FALSE(world.wants);
}

TEST_F(Leaving, SuspendingAPreemptedJobNeedsNoNewCondition) {
  SmallWorld world = Running(Job({{kW, 1}}));
  world.room = false;
  Yield(world);
  world.Exits(kW, 0, 42);
  world.Step();
  world.notes.clear();
  world.spec.suspend = true;
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Suspended");
  EXPECT_TRUE(world.notes.empty()) << "O21";
  world.spec.suspend = false;
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Suspended=False");
}

TEST_F(Leaving, ADeletedJobLeavesPolitelyAndIsGone) {
  SmallWorld world = Running(Job({{kW, 2}}));
  world.removed = true;
  Expect(world, "stop worker-0.1 +30000; stop worker-1.1 +30000");
  EXPECT_FALSE(world.gone);
  world.Exits(kW, 0, 42);
  world.Exits(kW, 1, 42);
  Expect(world,
         "release worker-0.1 stopped; release worker-1.1 stopped; remove worker-0.1; "
         "remove worker-1.1");
  EXPECT_TRUE(world.gone);
}

TEST_F(Leaving, DeletedWhileItWaitsItIsGoneAtOnce) {
  SmallWorld world(Job({{kW, 2}}));
  world.room = false;
  world.Step();
  world.removed = true;
  Expect(world, "");
  EXPECT_TRUE(world.gone);
}

TEST_F(Leaving, AYieldOfAJobThatHoldsNothingChangesNothing) {
  SmallWorld world(Job({{kW, 2}}));
  world.room = false;
  world.Step();
  const Status before = world.status;
  AskToYield(world.spec, world.status, world.now);
  EXPECT_EQ(world.status, before);
}

TEST_F(Leaving, AnotherNumberOfMembersIsAFreeGangRestart) {
  SmallWorld world = Running(Job({{kW, 3}}));
  world.spec.roles[kW].replicas = 2;
  Expect(world, "stop worker-0.1 +30000; stop worker-1.1 +30000; stop worker-2.1 +30000");
  for (int index = 0; index < 3; ++index) world.Exits(kW, index, 42);
  world.Step();
  EXPECT_EQ(world.Log(),
            "release worker-0.1 restart; release worker-1.1 restart; release worker-2.1 restart; "
            "remove worker-0.1; remove worker-1.1; remove worker-2.1; bind worker-0.2; "
            "bind worker-1.2");
  EXPECT_EQ(world.status.restarts, 0);
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Suspended=False Running");
  world.spec.roles[kW].replicas = 3;
  world.Step();
  for (int index = 0; index < 2; ++index) world.Exits(kW, index, 42);
  world.Step();
  EXPECT_EQ(world.Of(kW, 2).incarnation, 2) << "a Pod's number is never used twice";
}

TEST_F(Leaving, ScalingAPsJobTouchesOnlyTheSurplus) {
  SmallWorld world = Running(Job({{kC, 1}, {kP, 1}, {kW, 3}}));
  world.spec.roles[kW].replicas = 1;
  Expect(world, "stop worker-1.1 +30000; stop worker-2.1 +30000");
  world.Exits(kW, 1, 143);
  world.Exits(kW, 2, 1);
  Expect(world,
         "remove worker-1.1; remove worker-2.1; release worker-1.1 stopped; "
         "release worker-2.1 stopped");
  EXPECT_EQ(world.Conditions(), "Created Running") << "scale-in is no failure";
  world.spec.roles[kW].replicas = 2;
  Expect(world, "bind worker-1.2");
  EXPECT_EQ(world.status.attempt, 1);
}

TEST_F(Leaving, ScalingDynamicWorkers) {
  Spec spec = Job({{kW, 3}});
  spec.dynamic_worker = true;
  SmallWorld world = Running(spec);
  world.spec.roles[kW].replicas = 2;
  Expect(world, "stop worker-2.1 +30000");
  world.Exits(kW, 2, 143);
  Expect(world, "remove worker-2.1; release worker-2.1 stopped");
  world.spec.roles[kW].replicas = 4;
  Expect(world, "bind worker-2.2; bind worker-3.1");
}

TEST_F(Leaving, DynamicWorkersMayStartAtMinAvailable) {
  Spec spec = Job({{kP, 1}, {kW, 4}});
  spec.dynamic_worker = true;
  spec.min_available = 3;
  const SmallWorld world(spec);
  EXPECT_EQ(WantedMembers(world.spec, world.status),
            (std::vector{std::pair(kP, 0), std::pair(kW, 0), std::pair(kW, 1)}));
  SmallWorld started = Running(spec);
  EXPECT_EQ(std::ranges::count_if(started.status.replicas, &Replica::alive), 5)
      << "the others join as soon as there is room";
}

TEST_F(Leaving, AGangLargerThanItsReplicasIsStillOfferedToThePlanner) {
  Spec spec = Job({{kW, 2}});
  spec.min_available = 10;
  SmallWorld world(spec);
  world.room = false;
  world.Step();
  EXPECT_TRUE(world.wants);
  EXPECT_EQ(world.Conditions(), "Created") << "no startTime, and the planner gives the reason";
  EXPECT_FALSE(world.status.start_time.has_value());
}

TEST_F(Leaving, HandsOffWhatAnotherControllerManages) {
  Spec spec = Job({{kW, 2}});
  spec.managed_elsewhere = true;
  spec.suspend = true;
  SmallWorld world(spec);
  world.Step();
  world.spec.suspend = false;
  Expect(world, "");
  EXPECT_EQ(world.status, Status{});
  EXPECT_TRUE(world.notes.empty());
  EXPECT_EQ(world.wake, base::kNever);
  world.removed = true;
  world.Step();
  EXPECT_TRUE(world.gone);
}

}  // namespace
}  // namespace pondage::job
