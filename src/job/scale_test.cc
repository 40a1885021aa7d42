// Other numbers of replicas, and Pods that go, while a job runs, leaves, restarts and waits.
#include <gtest/gtest.h>

#include <string>

#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr Role kW = Role::kWorker, kP = Role::kPs, kC = Role::kChief;

class Scaling : public testing::Test {
 protected:
  static Spec Job(const std::map<Role, int>& roles,
                  RestartPolicy restart = RestartPolicy::kOnFailure) {
    Spec spec;
    for (const auto& [role, count] : roles) spec.roles[role] = Replicas(count, restart);
    return spec;
  }
  static SmallWorld Running(const Spec& spec) {
    SmallWorld world(spec);
    world.Step();
    world.StartsAll();
    world.Step();
    world.Log();
    return world;
  }
  static void Expect(SmallWorld& world, const std::string& log) {
    world.Step();
    EXPECT_EQ(world.Log(), log);
    EXPECT_TRUE(world.broken.empty()) << world.broken.front();
  }
};

// Scaled in and out again before it has left: its end is our doing all the same.
TEST_F(Scaling, WhoWasToldToGoIsNoFailureThoughItIsWantedAgain) {
  for (const RestartPolicy policy : {RestartPolicy::kNever, RestartPolicy::kOnFailure,
                                     RestartPolicy::kAlways, RestartPolicy::kExitCode}) {
    for (const bool dynamic : {false, true}) {
      for (const int code : {0, 1, 42, 137, 143}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(policy) << dynamic << code);
        Spec spec = Job({{kP, 1}, {kW, 3}}, policy);
        spec.dynamic_worker = dynamic;
        SmallWorld world = Running(spec);
        world.spec.roles[kW].replicas = 2;
        Expect(world, "stop worker-2.1 +30000");
        world.spec.roles[kW].replicas = 3;
        Expect(world, "");
        world.Exits(kW, 2, code);
        Expect(world, "remove worker-2.1; release worker-2.1 stopped; bind worker-2.2");
        EXPECT_EQ(world.Conditions(), "Created Running");
        EXPECT_EQ(world.status.restarts, 0);
      }
    }
  }
}

// The others know its members by address: they cannot go on without them.
TEST_F(Scaling, ACollectiveThatBecomesOneIsStillLeftAsAWhole) {
  for (const std::map<Role, int>& roles :
       {std::map<Role, int>{{kW, 3}}, std::map<Role, int>{{kC, 1}, {kW, 1}}}) {
    SmallWorld world = Running(Job(roles));
    if (roles.contains(kC)) {
      world.spec.roles.erase(kW);
    } else {
      world.spec.roles[kW].replicas = 1;
    }
    world.Step();
    EXPECT_EQ(world.status.drain, Drain::kResize);
    EXPECT_TRUE(std::ranges::all_of(world.status.replicas, [](const Replica& replica) {
      return replica.stop_asked.has_value();
    })) << world.Log();
  }
}

TEST_F(Scaling, DynamicWorkersOfOneScopeStartAtTheirFloorOnce) {
  Spec spec = Job({{kW, 4}});
  spec.dynamic_worker = true;
  spec.min_available = 2;
  spec.scope = Scope::kGang;
  SmallWorld world = Running(spec);
  EXPECT_EQ(world.status.stage, Stage::kBound);
  EXPECT_EQ(world.status.attempt, 1);
  world.Pass(60'000);
  EXPECT_EQ(world.status.stage, Stage::kBound);
}

// Members that were never placed are no change of the number of workers.
TEST_F(Scaling, ADynamicWorkerUnderNeverStaysAwayWhileOthersWaitForRoom) {
  Spec spec = Job({{kW, 4}}, RestartPolicy::kNever);
  spec.dynamic_worker = true;
  spec.min_available = 3;
  SmallWorld world(spec);
  world.Step();
  world.room = false;
  world.status.replicas.pop_back();  // as if there had been no room for the fourth
  world.StartsAll();
  world.Exits(kW, 1, 1);
  world.Step();
  world.Log();
  Expect(world, "");
  EXPECT_EQ(world.Of(kW, 1).phase, Phase::kFailed);
  EXPECT_TRUE(world.Of(kW, 1).present);
  EXPECT_EQ(WantedMembers(world.spec, world.status), (std::vector{std::pair(kW, 3)}));
}

TEST_F(Scaling, RestartingEndsThoughOthersWaitForRoom) {
  Spec spec = Job({{kW, 4}}, RestartPolicy::kExitCode);
  spec.dynamic_worker = true;
  spec.min_available = 3;
  SmallWorld world(spec);
  world.Step();
  world.room = false;
  world.status.replicas.pop_back();
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Exits(kW, 1, 137);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Restarting");
  world.Pass(10'000);
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running");
}

// A job of which one has finished stands in its queue, its Pod beside it.
class WithOneFinished : public Scaling {
 protected:
  SmallWorld Waiting() {
    Spec spec = Job({{kP, 1}, {kW, 3}});
    spec.success = SuccessPolicy::kAllWorkers;
    SmallWorld world = Running(spec);
    world.Exits(kW, 2, 0);
    world.Step();
    world.room = false;
    world.Exits(kP, 0, 1);
    world.Step();
    for (int index : {0, 1}) world.Exits(kW, index, 137);
    world.Step();
    world.Log();
    EXPECT_EQ(world.status.stage, Stage::kWaiting);
    EXPECT_TRUE(world.Of(kW, 2).present && world.Of(kW, 2).completed);
    return world;
  }
};

TEST_F(WithOneFinished, APodThatIsDeletedWhileItsJobWaitsGoes) {
  SmallWorld world = Waiting();
  world.PodDeleted(kW, 2);
  Expect(world, "remove worker-2.1");
  EXPECT_TRUE(world.Of(kW, 2).completed) << "and its index does not run again";
}

TEST_F(WithOneFinished, ASuspendedJobHasNoPods) {
  SmallWorld world = Waiting();
  world.spec.suspend = true;
  Expect(world, "remove worker-2.1");
}

TEST_F(WithOneFinished, WhoIsScaledInWhileItsJobWaitsGoes) {
  SmallWorld world = Waiting();
  world.spec.roles[kW].replicas = 2;
  Expect(world, "remove worker-2.1");
}

TEST_F(Scaling, WhoIsScaledInIsChargedUntilItEnded) {
  SmallWorld world = Running(Job({{kP, 1}, {kW, 2}}));
  world.spec.roles[kW].replicas = 1;
  world.Step();
  world.now = world.now + base::SecondsLong(20);
  world.Exits(kW, 1, 143, 5'000);
  Verdict verdict =
      Judge(world.identity, world.spec, world.status, false, world.now, world.settings);
  const auto release = std::ranges::find(verdict.actions, Act::kRelease, &Action::act);
  ASSERT_NE(release, verdict.actions.end());
  EXPECT_EQ(release->ended, world.now - base::SecondsLong(5));
}

}  // namespace
}  // namespace pondage::job
