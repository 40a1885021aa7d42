// Who starts again, where and when.
#include <gtest/gtest.h>

#include "job/machine.h"
#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr Role kC = Role::kChief, kP = Role::kPs, kW = Role::kWorker, kE = Role::kEvaluator;
constexpr RestartPolicy kNever = RestartPolicy::kNever;
constexpr RestartPolicy kOnFailure = RestartPolicy::kOnFailure;
constexpr RestartPolicy kAlways = RestartPolicy::kAlways;
constexpr RestartPolicy kExitCode = RestartPolicy::kExitCode;

Spec Job(const std::map<Role, int>& replicas, RestartPolicy policy) {
  Spec spec;
  for (const auto& [role, count] : replicas) spec.roles[role] = Replicas(count, policy);
  return spec;
}

class Restart : public testing::Test {
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
  void Expect(SmallWorld& world, const std::string& log) {
    world.Step();
    EXPECT_EQ(world.Log(), log);
    for (const std::string& broken : world.broken) ADD_FAILURE() << broken;
  }
};

TEST_F(Restart, InPlaceWithBackOffAndWithoutACondition) {
  SmallWorld world = Running(Job({{kW, 1}}, kOnFailure));
  world.Exits(kW, 0, 3);
  Expect(world, "");
  EXPECT_EQ(world.Conditions(), "Created Running");
  EXPECT_EQ(world.status.counts[kW].active, 1) << "as a kubelet shows it";
  EXPECT_EQ(world.status.restarts, 1);
  EXPECT_EQ(world.Of(kW).last_exit->code, 3) << "O22";
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(10));
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "start worker-0.1");
  EXPECT_EQ(world.Of(kW).restarts, 1);
  world.StartsAll();
  world.now = world.now + base::SecondsLong(5);
  world.Exits(kW, 0, 3);
  Expect(world, "");
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(20)) << "doubled";
  world.Pass(20'000);
  world.StartsAll();
  world.now = world.now + base::SecondsLong(600);
  world.Exits(kW, 0, 3);
  world.Step();
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(10)) << "anew after a long run";
  EXPECT_EQ(world.status.restarts, 3);
}

// PS 1 Worker 2 running, PS 0 ends. Where policy says again, all start again: its memory is lost.
TEST_F(Restart, APsThatEnds) {
  struct Row {
    RestartPolicy policy;
    int code;
    const char* conditions;
    bool again;
  };
  const Row rows[] = {{kAlways, 0, "Created Restarting", true},
                      {kAlways, 1, "Created Restarting", true},
                      {kOnFailure, 1, "Created Restarting", true},
                      {kNever, 1, "Created Running=False Failed", false},
                      {kExitCode, 1, "Created Running=False Failed", false},
                      {kNever, 0, "Created Running", false}};
  for (const Row& row : rows) {
    Spec spec = Job({{kP, 1}, {kW, 2}}, row.policy);
    SmallWorld world = Running(spec);
    world.Exits(kP, 0, row.code);
    world.Step();
    EXPECT_EQ(world.Conditions(), row.conditions);
    EXPECT_EQ(world.status.drain == Drain::kRestart, row.again);
    for (const std::string& broken : world.broken) ADD_FAILURE() << broken;
  }
}

TEST_F(Restart, ExitCodeRetryableGetsANewPodOnTheSameGrant) {
  SmallWorld world = Running(Job({{kW, 1}}, kExitCode));
  const int port = world.Of(kW).port;
  world.Exits(kW, 0, 130);
  Expect(world, "remove worker-0.1");
  EXPECT_EQ(world.Conditions(), "Created Restarting");
  EXPECT_EQ(world.status.counts[kW], (Counts{0, 0, 0})) << "its Pod is gone";
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "remake worker-0.2");
  EXPECT_EQ(world.Of(kW).port, port);
  EXPECT_EQ(world.Conditions(), "Created Restarting") << "holds until it runs again";
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running");
  EXPECT_EQ(world.status.restarts, 1);
}

TEST_F(Restart, TwoCodesInOneSnapshotOfWhichOneIsPermanent) {
  SmallWorld world = Running(Job({{kW, 2}}, kExitCode));
  world.Exits(kW, 0, 130);
  world.Exits(kW, 1, 1);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running=False Failed") << "nobody was first";
}

TEST_F(Restart, InAGangTheFirstExitDecides) {
  SmallWorld world = Running(Job({{kW, 3}}, kExitCode));
  world.now = world.now + base::SecondsLong(60);
  world.Exits(kW, 2, 1, 500);
  world.Exits(kW, 1, 137, 2'500);
  Expect(world, "kill worker-0.1; release worker-1.1 restart; release worker-2.1 restart");
  EXPECT_EQ(world.Conditions(), "Created Restarting");
  EXPECT_EQ(world.status.cause_replica, "worker-1");
  EXPECT_EQ(world.status.cause->code, 137);
  EXPECT_EQ(world.status.restarts, 1) << "the other exit is its consequence";
}

TEST_F(Restart, ALateReportCorrectsTheCause) {
  SmallWorld world = Running(Job({{kW, 3}}, kOnFailure));
  world.now = world.now + base::SecondsLong(60);
  world.Exits(kW, 2, 1, 500);
  world.Step();
  EXPECT_EQ(world.status.cause_replica, "worker-2");
  world.Exits(kW, 1, 139, 2'500);
  world.Step();
  EXPECT_EQ(world.status.cause_replica, "worker-1");
  EXPECT_EQ(world.status.restarts, 1);
  world.Exits(kW, 0, 1, 40'000);
  world.Step();
  EXPECT_EQ(world.status.cause_replica, "worker-1") << "too far apart to belong together";
  ASSERT_EQ(world.status.history.size(), 1u);
  EXPECT_EQ(world.status.history[0].replica, "worker-1");
}

TEST_F(Restart, AGangRestartRunsFinishedMembersAgain) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  world.Exits(kW, 1, 0);
  Expect(world, "release worker-1.1 finished");
  EXPECT_EQ(world.status.counts[kW], (Counts{1, 1, 0}));
  world.Exits(kW, 0, 1);
  Expect(world, "release worker-0.1 restart; remove worker-0.1; remove worker-1.1");
  EXPECT_EQ(world.status.counts[kW], (Counts{0, 0, 0}));
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "bind worker-0.2; bind worker-1.2");
}

TEST_F(Restart, O11AFinishedIndexNeverRunsAgain) {
  SmallWorld world = Running(Job({{kP, 1}, {kW, 3}}, kOnFailure));
  world.Exits(kW, 2, 0);
  Expect(world, "release worker-2.1 finished");
  world.PodDeleted(kW, 2);
  Expect(world, "remove worker-2.1");
  EXPECT_EQ(world.status.counts[kW].succeeded, 1) << "removed, and counted all the same";
  world.Exits(kP, 0, 1);
  world.Step();
  for (const auto& [role, index] : {std::pair(kW, 0), std::pair(kW, 1)})
    world.Exits(role, index, 137);
  world.Step();
  world.Log();
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "bind ps-0.2; bind worker-0.2; bind worker-1.2");
}

TEST_F(Restart, ALostPsTakesAllAlongAndAWorkerDoesNot) {
  SmallWorld world = Running(Job({{kC, 1}, {kP, 1}, {kW, 1}}, kOnFailure));
  world.Exits(kW, 0, 1);
  Expect(world, "");
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "start worker-0.1");
  world.StartsAll();
  world.Exits(kP, 0, 137);
  Expect(world, "kill chief-0.1; kill worker-0.1; release ps-0.1 restart");
  EXPECT_EQ(world.Last().message, "job mnist is restarting because PS replica(s) failed.");
  EXPECT_EQ(world.status.restarts, 2);
}

TEST_F(Restart, AnnotationReplicaKeepsEvenAPsAlone) {
  Spec spec = Job({{kP, 1}, {kW, 1}}, kOnFailure);
  spec.scope = Scope::kReplica;
  SmallWorld world = Running(spec);
  world.Exits(kP, 0, 137);
  Expect(world, "");
  EXPECT_EQ(world.status.stage, Stage::kBound);
}

TEST_F(Restart, AnEvaluatorRestartsAlone) {
  SmallWorld world = Running(Job({{kW, 2}, {kE, 1}}, kOnFailure));
  world.Exits(kE, 0, 1);
  Expect(world, "");
  EXPECT_EQ(world.status.stage, Stage::kBound);
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "start evaluator-0.1");
}

TEST_F(Restart, AFailedEvaluatorFailsTheJob) {
  SmallWorld world = Running(Job({{kW, 2}, {kE, 1}}, kNever));
  world.Exits(kE, 0, 1);
  world.Step();
  EXPECT_EQ(world.Last().message,
            "TFJob ml/mnist has failed because 1 Evaluator replica(s) failed.");
}

TEST_F(Restart, AFinishedEvaluatorStaysSoThroughAGangRestart) {
  SmallWorld world = Running(Job({{kW, 2}, {kE, 1}}, kOnFailure));
  world.Exits(kE, 0, 0);
  world.Exits(kW, 0, 1);
  world.Step();
  world.Exits(kW, 1, 1);
  world.Step();
  world.Log();
  world.Pass(10'000);
  EXPECT_EQ(world.Log(), "bind worker-0.2; bind worker-1.2");
}

TEST_F(Restart, O9ADeletedPodIsMadeAgainAlone) {
  SmallWorld world = Running(Job({{kP, 1}, {kW, 2}}, kOnFailure));
  world.PodDeleted(kW, 1);
  Expect(world, "stop worker-1.1 +30000");
  EXPECT_EQ(world.status.counts[kW], (Counts{1, 0, 0})) << "neither active nor failed";
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Exits(kW, 1, 143);
  Expect(world, "remove worker-1.1; remake worker-1.2");
  EXPECT_EQ(world.Conditions(), "Created Restarting");
  EXPECT_EQ(world.status.restarts, 0);
  EXPECT_EQ(world.status.disruptions, 1);
}

TEST_F(Restart, ADeletedPodOfAGangLetsAllSaveFirst) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  world.PodDeleted(kW, 1);
  Expect(world, "stop worker-0.1 +30000; stop worker-1.1 +30000");
  EXPECT_EQ(world.Conditions(), "Created Restarting");
  world.Exits(kW, 0, 42);
  world.Exits(kW, 1, 42);
  world.Step();
  EXPECT_EQ(world.Log(),
            "release worker-0.1 restart; release worker-1.1 restart; remove worker-0.1; "
            "remove worker-1.1; bind worker-0.2; bind worker-1.2")
      << "without a delay";
  EXPECT_EQ(world.status.restarts, 0);
  EXPECT_EQ(world.status.disruptions, 1);
}

TEST_F(Restart, WhoDeletesAPodSaysHowLongItMayTake) {
  SmallWorld alone = Running(Job({{kP, 1}, {kW, 2}}, kOnFailure));
  alone.PodDeleted(kW, 1, 5'000);
  Expect(alone, "stop worker-1.1 +5000");
  alone.Pass(1'000);
  alone.PodDeleted(kW, 1, 1'000);
  Expect(alone, "");
  EXPECT_EQ(alone.wake, alone.now + base::Millis{1'000}) << "asked again, with less time";
  alone.Pass(1'000);
  EXPECT_EQ(alone.Log(), "kill worker-1.1");

  SmallWorld gang = Running(Job({{kW, 2}}, kOnFailure));
  gang.PodDeleted(kW, 1, 90'000);
  Expect(gang, "stop worker-0.1 +90000; stop worker-1.1 +90000");
}

TEST_F(Restart, APodThatIsDeletedByForceIsKilledAndTheRestartIsFree) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  world.PodDeleted(kW, 1, 0);
  Expect(world, "kill worker-1.1");
  world.Exits(kW, 1, 137);
  Expect(world, "kill worker-0.1; release worker-1.1 restart");
  world.Exits(kW, 0, 137);
  world.Step();
  EXPECT_EQ(world.status.restarts, 0);
  EXPECT_EQ(world.status.disruptions, 1);
  EXPECT_EQ(world.Of(kW, 1).incarnation, 2);

  SmallWorld leaving = Running(Job({{kW, 2}}, kOnFailure));
  leaving.spec.suspend = true;
  Expect(leaving, "stop worker-0.1 +30000; stop worker-1.1 +30000");
  leaving.PodDeleted(kW, 0, 0);
  Expect(leaving, "kill worker-0.1");
}

TEST_F(Restart, ADeletedPodUnderNeverFailsTheJobOnceItIsGone) {
  SmallWorld world = Running(Job({{kW, 2}}, kNever));
  world.PodDeleted(kW, 1);
  Expect(world, "stop worker-1.1 +30000");
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Exits(kW, 1, 143);
  Expect(world, "kill worker-0.1; release worker-1.1 failed");
  EXPECT_EQ(world.Last().message, "TFJob ml/mnist has failed because 1 Worker replica(s) failed.");
}

TEST_F(Restart, ALostNodeKillsTheGangAndIsFree) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  world.NodeLost(kW, 1);
  Expect(world, "kill worker-0.1; release worker-1.1 restart");
  EXPECT_EQ(world.status.restarts, 0);
  EXPECT_EQ(world.status.disruptions, 1);
  EXPECT_EQ(world.status.cause->reason, "NodeLost");
  world.Exits(kW, 0, 137);
  world.Step();
  EXPECT_EQ(world.Log(),
            "release worker-0.1 restart; remove worker-0.1; remove worker-1.1; bind worker-0.2; "
            "bind worker-1.2");
}

TEST_F(Restart, ALostEvaluatorIsPlacedAnewAlone) {
  SmallWorld world = Running(Job({{kW, 2}, {kE, 1}}, kOnFailure));
  world.room = false;
  world.NodeLost(kE, 0);
  Expect(world, "remove evaluator-0.1; release evaluator-0.1 restart");
  EXPECT_TRUE(world.wants) << "a bound job that lacks a member";
  EXPECT_EQ(WantedMembers(world.spec, world.status), (std::vector{std::pair(kE, 0)}));
  world.room = true;
  Expect(world, "bind evaluator-0.2");
  EXPECT_EQ(world.status.attempt, 1);
}

TEST_F(Restart, O10OneCountEndsTheJob) {
  struct Row {
    const char* says;
    std::map<Role, int> replicas;
    RestartPolicy policy;
    int limit;
    int failures;  // the one that is not made good
  };
  const Row rows[] = {{"limit 0 acts as 1", {{kW, 1}}, kOnFailure, 0, 1},
                      {"limit 1: Failed at the first", {{kW, 1}}, kOnFailure, 1, 1},
                      {"in place", {{kW, 1}}, kOnFailure, 3, 3},
                      {"new Pods", {{kW, 1}}, kExitCode, 3, 3},
                      {"gangs", {{kW, 2}}, kOnFailure, 2, 2}};
  for (const Row& row : rows) {
    Spec spec = Job(row.replicas, row.policy);
    spec.backoff_limit = row.limit;
    SmallWorld world = Running(spec);
    for (int failure = 1; failure <= row.failures; ++failure) {
      EXPECT_FALSE(IsFinished(world.status)) << row.says;
      world.Exits(kW, 0, 137);
      world.Step();
      if (row.replicas.at(kW) > 1) world.Exits(kW, 1, 137);
      world.Step();
      if (failure == row.failures) break;
      world.Pass(300'000);
      world.StartsAll();
      world.Step();
    }
    EXPECT_TRUE(IsTrue(world.status, "Failed")) << row.says;
    EXPECT_EQ(world.Last().message,
              "Job mnist has failed because it has reached the specified backoff limit");
    EXPECT_EQ(world.status.restarts, row.failures);
    for (const std::string& broken : world.broken) ADD_FAILURE() << broken;
  }
}

TEST_F(Restart, FourWorkersWithOneRestartEachReachALimitOfFour) {
  Spec spec = Job({{kP, 2}, {kW, 4}}, kOnFailure);
  spec.backoff_limit = 4;
  spec.clean_pods = CleanPodPolicy::kAll;
  SmallWorld world = Running(spec);
  for (int index = 0; index < 4; ++index) world.Exits(kW, index, 1);
  world.Step();
  EXPECT_TRUE(IsTrue(world.status, "Failed"));
  for (int index = 0; index < 2; ++index) world.Exits(kP, index, 143);
  world.Step();
  EXPECT_EQ(world.status.stage, Stage::kEnded);
  EXPECT_TRUE(std::ranges::none_of(world.status.replicas, &Replica::present));
}

TEST_F(Restart, DisruptionsNeverCountAgainstTheLimit) {
  Spec spec = Job({{kP, 1}, {kW, 1}}, kOnFailure);
  spec.backoff_limit = 1;
  SmallWorld world = Running(spec);
  for (int i = 0; i < 5; ++i) {
    world.PodDeleted(kW, 0);
    world.Step();
    world.Exits(kW, 0, 143);
    world.Step();
    world.StartsAll();
    world.Step();
  }
  EXPECT_EQ(world.Conditions(), "Created Running");
  EXPECT_EQ(world.status.disruptions, 5);
}

TEST_F(Restart, GangDelaysDoubleAndALongRunStartsAnew) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  const std::int64_t delays_s[] = {10, 20, 40};
  const auto fail = [&] {
    world.Exits(kW, 0, 1);
    world.Step();
    world.Exits(kW, 1, 1);
    world.Step();
  };
  for (const std::int64_t delay : delays_s) {
    fail();
    EXPECT_EQ(world.status.not_before, world.now + base::SecondsLong(delay));
    EXPECT_EQ(world.status.queued, base::Instant{kStartOfTime}) << "its old place";
    world.Pass(delay * 1000);
    world.StartsAll();
    world.Step();
  }
  world.Pass(600'000);
  fail();
  EXPECT_EQ(world.status.not_before, world.now + base::SecondsLong(10));
}

TEST_F(Restart, LeavingByItselfWith42LetsTheOthersSave) {
  Spec spec = Job({{kW, 2}}, kNever);
  spec.requeue_exit_code = 42;
  SmallWorld world = Running(spec);
  world.Exits(kW, 0, 42);
  Expect(world, "release worker-0.1 restart");
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(30));
  EXPECT_EQ(world.status.voluntary, 1);
  EXPECT_EQ(world.status.restarts, 1);
  world.Pass(30'000);
  EXPECT_EQ(world.Log(), "kill worker-1.1") << "its grace is over";
}

TEST_F(Restart, TwelveInARowEndTheJob) {
  Spec spec = Job({{kW, 2}}, kOnFailure);
  spec.requeue_exit_code = 42;
  SmallWorld world = Running(spec);
  for (int time = 1; time <= 12; ++time) {
    ASSERT_FALSE(IsFinished(world.status)) << time;
    world.Exits(kW, 0, 42);
    world.Exits(kW, 1, 42);
    world.Step();
    world.Pass(300'000);
    world.StartsAll();
    world.Step();
  }
  EXPECT_TRUE(IsTrue(world.status, "Failed"));
  EXPECT_EQ(
      world.Last().message,
      "TFJob ml/mnist has failed because its program asked 12 times in a row to be run again.");
}

TEST_F(Restart, AnotherFailureBreaksTheRow) {
  Spec spec = Job({{kW, 1}}, kOnFailure);
  spec.requeue_exit_code = 42;
  SmallWorld world = Running(spec);
  world.Exits(kW, 0, 42);
  world.Step();
  EXPECT_EQ(world.status.voluntary, 1);
  world.Pass(10'000);
  world.StartsAll();
  world.Exits(kW, 0, 1);
  world.Step();
  EXPECT_EQ(world.status.voluntary, 0);
}

TEST_F(Restart, O21EveryExitIsToldOnce) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  world.Exits(kW, 1, 137);
  world.Step();
  world.Step();
  EXPECT_EQ(world.notes,
            (std::vector<std::string>{
                "ExitedWithCode: Pod: ml.mnist-worker-1 exited with code 137",
                "TFJobRestarting: job mnist is restarting because Worker replica(s) failed."}));
}

TEST_F(Restart, ADynamicWorkerUnderNeverStaysAwayUntilTheNextChange) {
  Spec spec = Job({{kP, 1}, {kW, 2}}, kNever);
  spec.dynamic_worker = true;
  SmallWorld world = Running(spec);
  world.Exits(kW, 1, 1);
  Expect(world, "release worker-1.1 failed");
  EXPECT_EQ(world.Conditions(), "Created Running");
  world.Scale(kW, 3);
  Expect(world, "remove worker-1.1; bind worker-1.2; bind worker-2.1");
}

TEST_F(Restart, OnlyWhoSaidHelloCanBeMissed) {
  SmallWorld world = Running(Job({{kW, 2}}, kOnFailure));
  world.Says(kW, 0, -1);
  world.Step();
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(900));
  world.Pass(900'000);
  EXPECT_EQ(world.Log(), "kill worker-0.1") << "the silent one is left alone";
  world.Exits(kW, 0, 137);
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Restarting");
}

TEST_F(Restart, AStepEndsTheStartUp) {
  SmallWorld world = Running(Job({{kW, 1}}, kOnFailure));
  world.spec.startup_timeout = base::SecondsLong(60);
  world.Step();
  EXPECT_EQ(world.wake, world.now + base::SecondsLong(60)) << "asked for: silent members too";
  world.Says(kW, 0, 1);
  world.Step();
  EXPECT_EQ(world.wake, base::kNever);
}

TEST_F(Restart, AProgramThatIsNotThereIsNotTriedAgain) {
  for (const RestartPolicy policy : {kNever, kOnFailure, kAlways, kExitCode}) {
    for (const int workers : {1, 2}) {
      for (const int code : {126, 127}) {
        SmallWorld world = Running(Job({{kW, workers}}, policy));
        world.Exits(kW, 0, code);
        world.Of(kW).exit->reason = "StartFailed";
        world.Of(kW).started.reset();
        world.Step();
        EXPECT_TRUE(IsTrue(world.status, "Failed")) << code;
        EXPECT_EQ(world.status.restarts, 0);
        EXPECT_EQ(world.status.cause->code, code);
      }
    }
  }
}

// A shell that did not find a command has run: its author's policy decides, as for any other code.
TEST_F(Restart, TheSameCodeFromAProgramThatRanGoesByPolicy) {
  SmallWorld world = Running(Job({{kW, 1}}, kOnFailure));
  world.Exits(kW, 0, 127);
  Expect(world, "");
  EXPECT_EQ(world.status.restarts, 1);
}

TEST_F(Restart, WhyItRestartedIsKnownWhenItHasSucceeded) {
  SmallWorld gang = Running(Job({{kW, 2}}, kOnFailure));
  gang.Exits(kW, 1, 137);
  gang.Step();
  gang.Exits(kW, 0, 137);
  gang.Step();
  gang.Pass(10'000);
  gang.StartsAll();
  gang.Exits(kW, 0, 0);
  gang.Exits(kW, 1, 0);
  gang.Step();
  ASSERT_TRUE(IsTrue(gang.status, "Succeeded"));
  ASSERT_EQ(gang.status.history.size(), 1u);
  EXPECT_EQ(gang.status.history[0].replica, "worker-1");
  EXPECT_EQ(gang.status.history[0].attempt, 1);
  EXPECT_EQ(gang.status.history[0].exit.code, 137);

  SmallWorld alone = Running(Job({{kW, 1}}, kOnFailure));
  for (int i = 0; i < 30; ++i) {
    alone.Exits(kW, 0, 1 + i);
    alone.Step();
    alone.Pass(300'000);
    alone.StartsAll();
  }
  ASSERT_EQ(alone.status.history.size(), kMostHistory);
  EXPECT_EQ(alone.status.history.back().exit.code, 30) << "the oldest go first";
}

}  // namespace
}  // namespace pondage::job
