#include "pool/pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace pondage::pool {
namespace {

constexpr base::Instant kNow{1'000'000};
using base::Role;

fleet::Node Node(int gpus) {
  fleet::Node node{.name = "n1", .cpu = {64'000}, .memory = {std::int64_t{1} << 38}};
  for (int i = 0; i < gpus; ++i) node.gpus.push_back({.id = fmt::format("gpu-{}", i)});
  return node;
}

JobApplied Job(int id, int workers, int gpus) {
  JobApplied fact{.identity = {.id = {id},
                               .space = "default",
                               .name = fmt::format("j{}", id),
                               .uid = fmt::format("uid-{}", id),
                               .created = kNow}};
  fact.spec.roles[Role::kWorker] = {
      .replicas = workers, .restart = job::RestartPolicy::kOnFailure, .demand = {.gpus = gpus}};
  return fact;
}

template <class Kind>
std::vector<Kind> Of(const std::vector<Decision>& decisions) {
  std::vector<Kind> found;
  for (const Decision& decision : decisions) {
    if (const auto* match = std::get_if<Kind>(&decision)) found.push_back(*match);
  }
  return found;
}

class PoolTest : public testing::Test {
 protected:
  void SetUp() override { Step({QueuePut{{.name = "default"}}, NodeSeen{Node(4)}}); }

  std::vector<Decision> Step(const std::vector<Fact>& facts, base::Millis later = {0}) {
    now_ = now_ + later;
    auto decisions = pool_.Step(facts, now_);
    for (const std::string& broken : BrokenLaws(pool_)) ADD_FAILURE() << broken;
    return decisions;
  }

  base::ReplicaId Worker(int job, int index, int incarnation = 1) {
    return {{job}, Role::kWorker, index, incarnation};
  }

  Pool pool_{Settings{}};
  base::Instant now_ = kNow;
};

TEST_F(PoolTest, AGangIsBoundAndStartedWholeInTheStepThatSawIt) {
  const auto decisions = Step({Job(1, 2, 2)});
  EXPECT_EQ(Of<MakePod>(decisions).size(), 2u);
  EXPECT_EQ(Of<StartReplica>(decisions).size(), 2u);
  EXPECT_EQ(pool_.Find({1})->status.stage, job::Stage::kBound);
  EXPECT_EQ(pool_.fleet().Find("n1")->FreeGpus(), 0);
}

TEST_F(PoolTest, WhatDoesNotFitWaitsWithAReasonAndHoldsNothing) {
  Step({Job(1, 2, 2)});
  const auto decisions = Step({Job(2, 1, 1)});
  EXPECT_TRUE(Of<MakePod>(decisions).empty());
  ASSERT_TRUE(pool_.Find({2})->status.reason.has_value());
  EXPECT_EQ(pool_.Find({2})->status.reason->constraint, "busy");
}

TEST_F(PoolTest, WhoStartedInThisStepIsNotAheadOfAnybody) {
  Step({Job(1, 1, 4), Job(2, 1, 4), Job(3, 1, 4)});
  ASSERT_TRUE(pool_.Find({3})->status.reason.has_value());
  EXPECT_EQ(pool_.Find({3})->status.reason->values.at("ahead_count"), "1");
  EXPECT_EQ(pool_.Find({3})->status.reason->values.at("ahead"), "j2");
}

TEST_F(PoolTest, AnExitFreesItsGpusForTheNextGangInTheSameStep) {
  Step({Job(1, 1, 4)});
  Step({Job(2, 1, 4)});
  Step({ReplicaStarted{Worker(1, 0), now_}});
  const base::Instant ended = now_ + base::SecondsLong(20);
  const auto decisions =
      Step({ReplicaExited{Worker(1, 0), {.code = 0, .at = ended}}}, base::SecondsLong(30));
  ASSERT_EQ(Of<CloseCharge>(decisions).size(), 1u);
  EXPECT_EQ(Of<CloseCharge>(decisions)[0].entry.MilliGpuMillis(), 4'000 * 20'000) << "told late";
  EXPECT_EQ(pool_.Find({1})->status.completion_time, ended);
  EXPECT_EQ(Of<StartReplica>(decisions).size(), 1u);
  EXPECT_EQ(Of<StartReplica>(decisions)[0].replica, Worker(2, 0));
}

TEST_F(PoolTest, WhoHoldsTheGpusIsToldWithNameSpaceAndUserWhereTheyAreOthers) {
  JobApplied holder = Job(1, 1, 4);
  holder.spec.user = "li";
  Step({holder});
  struct Row {
    std::string space, user, held_by;
  };
  const Row rows[] = {{"default", "li", "j1"},
                      {"default", "ann", "j1 (li)"},
                      {"vision", "li", "default/j1"},
                      {"vision", "ann", "default/j1 (li)"}};
  for (int id = 2; const Row& row : rows) {
    JobApplied waits = Job(id, 1, 4);
    waits.identity.space = row.space;
    waits.spec.user = row.user;
    Step({waits});
    const auto& reason = pool_.Find({id++})->status.reason;
    ASSERT_TRUE(reason.has_value());
    EXPECT_THAT(reason->message, testing::EndsWith("held by " + row.held_by));
  }
}

TEST_F(PoolTest, AnEndThatCannotBeTrueIsWhenItWasTold) {
  for (const base::Millis off : {base::SecondsLong(-3600), base::SecondsLong(3600)}) {
    const int id = off.value < 0 ? 1 : 2;
    Step({Job(id, 1, 4)});
    Step({ReplicaStarted{Worker(id, 0), now_}});
    const auto decisions =
        Step({ReplicaExited{Worker(id, 0), {.code = 0, .at = now_ + off}}}, base::SecondsLong(30));
    ASSERT_EQ(Of<CloseCharge>(decisions).size(), 1u);
    EXPECT_EQ(Of<CloseCharge>(decisions)[0].entry.to, now_);
    EXPECT_EQ(pool_.Find({id})->status.completion_time, now_);
  }
}

// A start-up time-out counts from it.
TEST_F(PoolTest, AStartThatCannotBeTrueIsTakenForOneThatCan) {
  for (const base::Millis off : {base::SecondsLong(-3600), base::SecondsLong(3600)}) {
    const int id = off.value < 0 ? 1 : 2;
    Step({Job(id, 1, 1)});
    const base::Instant granted = now_;
    Step({ReplicaStarted{Worker(id, 0), now_ + off}}, base::SecondsLong(30));
    const auto& started = pool_.Find({id})->status.replicas.at(0).started;
    EXPECT_EQ(started, off.value < 0 ? granted : now_);
  }
}

TEST_F(PoolTest, AFactAboutAnOlderIncarnationChangesNothing) {
  Step({Job(1, 1, 1)});
  const job::Status before = pool_.Find({1})->status;
  Step({ReplicaExited{Worker(1, 0, 0), {.code = 1, .at = now_}}});
  EXPECT_EQ(pool_.Find({1})->status, before);
}

TEST_F(PoolTest, ACheckpointWasSavedWhenItWasNamedFirst) {
  const auto see = [&](std::int64_t step) {
    Step({CheckpointSeen{{1}, {step, now_ + base::SecondsLong(8), "ckpt"}}}, base::SecondsLong(8));
    return pool_.Find({1})->status.checkpoint;
  };
  Step({Job(1, 1, 1)});
  const auto first = see(600);
  EXPECT_EQ(first->at, now_);
  EXPECT_EQ(see(600), first);
  EXPECT_EQ(see(700)->at, now_);
  // A name without a step tells nothing of what it holds: its own time counts.
  EXPECT_EQ(see(-1)->at, now_);
  EXPECT_EQ(see(-1)->at, now_);
}

// Else a job that saves would be told to lose an hour, until the clock comes there again.
TEST_F(PoolTest, ACheckpointOfAFurtherStepIsNewerWhateverTheClockWasSetTo) {
  Step({Job(1, 1, 1)});
  const auto see = [&](std::int64_t step, base::Millis clock) {
    Step({CheckpointSeen{{1}, {step, now_ + clock, "ckpt"}}}, base::SecondsLong(8));
    return *pool_.Find({1})->status.checkpoint;
  };
  EXPECT_EQ(see(600, base::Millis{0}).step, 600);
  const job::Checkpoint later = see(700, base::SecondsLong(-3600));
  EXPECT_EQ(later.step, 700);
  EXPECT_EQ(later.at, now_);
  EXPECT_EQ(see(650, base::SecondsLong(-3600)), later) << "an older one, told late";
}

TEST_F(PoolTest, ALaterAttemptThatReachesTheSameStepSavesItAnew) {
  Step({Job(1, 1, 1)});
  Step({ReplicaStarted{Worker(1, 0), now_}, CheckpointSeen{{1}, {600, now_, "ckpt"}}});
  Step({CheckpointSeen{{1}, {600, now_ + base::Millis{1}, "ckpt"}}});
  EXPECT_EQ(pool_.Find({1})->status.checkpoint->at, now_);
  JobApplied moved = Job(1, 1, 1);
  moved.spec.suspend = true;
  Step({moved}, base::SecondsLong(60));
  Step({ReplicaExited{Worker(1, 0), {.code = 42, .at = now_}}}, base::SecondsLong(1));
  Step({Job(1, 1, 1)}, base::SecondsLong(60));
  ASSERT_EQ(pool_.Find({1})->status.stage, job::Stage::kBound);
  const base::Instant again = now_ + base::SecondsLong(5);
  Step({CheckpointSeen{{1}, {600, again, "ckpt"}}}, base::SecondsLong(5));
  EXPECT_EQ(pool_.Find({1})->status.checkpoint->at, again);
}

TEST_F(PoolTest, PortsOfAGangAreItsOwnAndFreshAtEachAttempt) {
  Step({Job(1, 2, 1), Job(2, 2, 1)});
  std::set<int> ports;
  for (const int job : {1, 2}) {
    for (const job::Replica& replica : pool_.Find({job})->status.replicas) {
      EXPECT_TRUE(ports.insert(replica.port).second) << replica.port;
    }
  }
  Step({ReplicaStarted{Worker(1, 0), now_}, ReplicaStarted{Worker(1, 1), now_}});
  Step({ReplicaExited{Worker(1, 0), {.code = 137, .at = now_}}});
  Step({ReplicaExited{Worker(1, 1), {.code = 137, .at = now_}}});
  Step({}, base::SecondsLong(600));
  ASSERT_EQ(pool_.Find({1})->status.attempt, 2);
  for (const job::Replica& replica : pool_.Find({1})->status.replicas) {
    EXPECT_TRUE(ports.insert(replica.port).second)
        << "used by the attempt before: " << replica.port;
  }
}

TEST_F(PoolTest, AGangWhosePortIsTakenByAStrangerStartsAnewOnOthersUncounted) {
  Step({Job(1, 2, 1)});
  const int taken = pool_.Find({1})->status.replicas[0].port;
  Step({ReplicaNotStarted{Worker(1, 0), 128, "port is taken", {taken}, now_}});
  Step({ReplicaExited{Worker(1, 1), {.code = 137, .at = now_}}});
  Step({}, base::SecondsLong(1));
  const job::Status& status = pool_.Find({1})->status;
  EXPECT_EQ(status.attempt, 2);
  EXPECT_EQ(status.restarts, 0);
  for (const job::Replica& replica : status.replicas) EXPECT_NE(replica.port, taken);
}

// Few ports, so that they bind before GPUs do.
class PortsTest : public PoolTest {
 protected:
  PortsTest() { pool_ = Pool(Settings{.first_port = 20'000, .last_port = 20'002}); }
};

TEST_F(PortsTest, AGangThatFindsNoPortSaysSoAndStartsWhenOneIsFree) {
  Step({Job(1, 2, 1)});
  Step({Job(2, 2, 1)});
  ASSERT_EQ(pool_.Find({2})->status.stage, job::Stage::kWaiting);
  EXPECT_EQ(pool_.Find({2})->status.reason->id, "PND-Q022");
  EXPECT_EQ(pool_.Find({2})->status.reason->message,
            "needs 2 ports to listen on; too few of 20000-20002 are free");
  Step({ReplicaExited{Worker(1, 0), {.code = 0, .at = now_}},
        ReplicaExited{Worker(1, 1), {.code = 0, .at = now_}}});
  EXPECT_EQ(pool_.Find({2})->status.stage, job::Stage::kBound);
}

TEST_F(PortsTest, AStrangersPortIsOfferedAgainAfterAWhile) {
  Step({Job(1, 2, 1)});
  const int taken = pool_.Find({1})->status.replicas[0].port;
  const int other = pool_.Find({1})->status.replicas[1].port;
  Step({ReplicaNotStarted{Worker(1, 0), 128, "port is taken", {taken, other}, now_}});
  const auto decisions = Step({ReplicaExited{Worker(1, 1), {.code = 137, .at = now_}}});
  ASSERT_EQ(pool_.Find({1})->status.stage, job::Stage::kWaiting);
  EXPECT_EQ(pool_.Find({1})->status.reason->constraint, "ports");
  const base::Instant wake = Of<WakeAt>(decisions).front().at;
  ASSERT_LE(wake, now_ + base::SecondsLong(600));
  Step({}, wake - now_);
  EXPECT_EQ(pool_.Find({1})->status.stage, job::Stage::kBound);
}

// The others know it by its address, and a Pod that is made anew must name the same.
TEST_F(PoolTest, AFinishedIndexKeepsItsAddressWhileTheOthersGoOn) {
  JobApplied job = Job(1, 2, 1);
  job.spec.scope = job::Scope::kReplica;
  job.spec.success = job::SuccessPolicy::kAllWorkers;
  job.spec.roles.at(Role::kWorker).restart = job::RestartPolicy::kExitCode;
  Step({job});
  const int port = pool_.Find({1})->status.replicas[1].port;
  Step({ReplicaStarted{Worker(1, 0), now_}, ReplicaStarted{Worker(1, 1), now_}});
  Step({ReplicaExited{Worker(1, 1), {.code = 0, .at = now_}}});
  EXPECT_EQ(pool_.Find({1})->status.replicas[1].port, port);
  Step({Job(2, 3, 1)});  // takes the GPU and wants ports
  Step({ReplicaExited{Worker(1, 0), {.code = 137, .at = now_}}});
  Step({}, base::SecondsLong(10));
  EXPECT_EQ(pool_.Find({1})->status.replicas[0].incarnation, 2);
  EXPECT_EQ(pool_.Find({1})->status.replicas[1].port, port);

  job.spec.suspend = true;
  Step({job});
  Step({ReplicaExited{Worker(1, 0, 2), {.code = 143, .at = now_}}});
  EXPECT_EQ(pool_.Find({1})->status.replicas[1].port, 0);
  job.spec.suspend = false;
  Step({job});
  ASSERT_EQ(pool_.Find({1})->status.stage, job::Stage::kBound);
  EXPECT_NE(pool_.Find({1})->status.replicas[1].port, 0) << "TF_CONFIG names it again";
}

TEST_F(PoolTest, AWaitingJobThatAsksForLessStartsWhenItIsEdited) {
  Step({Job(1, 1, 3)});
  Step({Job(2, 1, 2), Job(3, 1, 4)});
  EXPECT_EQ(pool_.Find({2})->status.stage, job::Stage::kWaiting);
  const auto decisions = Step({Job(2, 1, 1)});
  ASSERT_EQ(Of<StartReplica>(decisions).size(), 1u);
  EXPECT_EQ(Of<StartReplica>(decisions)[0].replica, Worker(2, 0));
}

// An edit that changes nothing a plan depends on (a label, an annotation) costs no plan: with
// thousands waiting it would be the dearest part of it.
TEST_F(PoolTest, AnEditThatChangesNothingPlansNothing) {
  Step({Job(1, 1, 4)});
  Step({Job(2, 1, 4)});
  Step({ReplicaStarted{Worker(1, 0), now_}});
  const std::optional<job::Reason> before = pool_.Find({2})->status.reason;
  ASSERT_TRUE(before.has_value());
  const std::int64_t walks = pool_.planner().walks();
  Step({Job(2, 1, 4)}, base::SecondsLong(60));
  EXPECT_EQ(pool_.planner().walks(), walks) << "planned anew";
  Step({Job(3, 1, 4)});
  EXPECT_EQ(pool_.planner().walks(), walks + 1);
  EXPECT_EQ(pool_.planner().waiters().size(), 2u);
}

TEST_F(PoolTest, APreviewBindsNothing) {
  const JobApplied fits = Job(9, 2, 2);
  EXPECT_EQ(pool_.Preview(fits.identity, fits.spec, {}, now_).stage, job::Stage::kBound);
  const JobApplied never = Job(9, 1, 16);
  ASSERT_TRUE(pool_.Preview(never.identity, never.spec, {}, now_).reason.has_value());
  EXPECT_EQ(pool_.Preview(never.identity, never.spec, {}, now_).reason->constraint, "never");
  EXPECT_EQ(pool_.fleet().Find("n1")->FreeGpus(), 4);
  EXPECT_EQ(pool_.Find({9}), nullptr);
}

// What a decision does to the world, as text; when a status is written may differ after a restart,
// what is done may not.
std::string Deeds(const std::vector<Decision>& decisions) {
  std::string deeds;
  const auto name = [](const base::ReplicaId& id) {
    return fmt::format("{}/{}/{}/{}", id.job.value, static_cast<int>(id.role), id.index,
                       id.incarnation);
  };
  for (const Decision& decision : decisions) {
    if (const auto* make = std::get_if<MakePod>(&decision)) deeds += "make " + name(make->replica);
    if (const auto* start = std::get_if<StartReplica>(&decision))
      deeds += "start " + name(start->replica);
    if (const auto* stop = std::get_if<StopReplica>(&decision))
      deeds += "stop " + name(stop->replica);
    if (const auto* kill = std::get_if<KillReplica>(&decision))
      deeds += "kill " + name(kill->replica);
    if (const auto* remove = std::get_if<RemovePod>(&decision))
      deeds += "remove " + name(remove->replica);
    if (const auto* close = std::get_if<CloseCharge>(&decision)) {
      deeds +=
          fmt::format("charge {} {}", name(close->entry.replica), close->entry.MilliGpuMillis());
    }
    deeds += ";";
  }
  std::erase(deeds, ';');
  return deeds;
}

// Its object exists: a host tells nothing more of one that ended, and deletes one that is gone.
bool IsThere(const JobView& job) {
  const bool gone = job.removed && std::ranges::none_of(job.status.replicas, &job::Replica::alive);
  return job.status.stage != job::Stage::kEnded && !gone;
}

std::string Promises(const Pool& pool) {
  std::string promises;
  for (const auto& [id, job] : pool.jobs()) {
    if (!job.status.slot) continue;
    promises += fmt::format("{} from {} on", id.value, job.status.slot->at.unix_ms);
    for (const fleet::Grant& grant : job.status.slot->grants) {
      promises += fmt::format(" {}:{}", grant.node, fmt::join(grant.gpus, ","));
    }
    promises += '\n';
  }
  return promises;
}

// What a host has stored of a pool: every job, and what SetUse told.
class Shelf {
 public:
  void Keep(const Pool& pool, const std::vector<Decision>& decisions) {
    for (const SetUse& told : Of<SetUse>(decisions)) {
      uses_.erase(told.queue);
      if (const auto* users = pool.queues().UsesIn(told.queue)) uses_[told.queue] = *users;
    }
    for (const Planned& told : Of<Planned>(decisions)) planned_ = told.at;
  }

  std::vector<Fact> Load(const Pool& pool) const {
    std::vector<Fact> facts;
    for (const auto& [id, job] : pool.jobs()) {
      if (IsThere(job)) facts.push_back(JobLoaded{job.identity, job.spec, job.status, job.removed});
    }
    facts.push_back(PlanKept{planned_});
    for (const auto& [queue, users] : uses_) {
      for (const auto& [user, use] : users) {
        facts.push_back(UseKept{{queue, user, {.value = use.value, .rate = {}, .at = use.at}}});
      }
    }
    return facts;
  }

 private:
  std::map<std::string, std::map<std::string, queue::Use>> uses_;
  base::Instant planned_{0};
};

// Two pools hear the same; one is now and then replaced by what a restart would load.
TEST(PoolRestart, AtAnyStepGivesTheSameDeeds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    base::Random dice(seed);
    Pool steady{Settings{}};
    auto restarted = std::make_unique<Pool>(Settings{});
    Shelf shelf;
    base::Instant now = kNow;
    const std::vector<Fact> setting{QueuePut{{.name = "default", .guarantee = base::WholeGpus(1)}},
                                    QueuePut{{.name = "lab", .limit = base::WholeGpus(3)}},
                                    NodeSeen{Node(4)}};
    steady.Step(setting, now);
    restarted->Step(setting, now);
    for (int step = 1; step <= 60; ++step) {
      std::vector<Fact> facts;
      if (dice.OneIn(3)) {
        JobApplied job =
            Job(step, static_cast<int>(dice.Between(1, 3)), static_cast<int>(dice.Between(0, 2)));
        if (dice.OneIn(3))
          job.spec.roles[Role::kPs] = {.replicas = 1, .restart = job::RestartPolicy::kOnFailure};
        if (dice.OneIn(3)) job.spec.backoff_limit = 2;
        if (dice.OneIn(3)) job.spec.scope = job::Scope::kReplica;
        if (!dice.OneIn(3)) job.spec.deadline = base::SecondsLong(dice.Between(5, 200));
        if (dice.OneIn(3)) job.spec.queue = "lab";
        job.spec.user = dice.OneIn(2) ? "eva" : "tom";
        facts.push_back(job);
      }
      for (const auto& [id, job] : steady.jobs()) {
        for (const job::Replica& replica : job.status.replicas) {
          if (!replica.alive) continue;
          if (!replica.started) facts.push_back(ReplicaStarted{replica.Id(id), now});
          if (!dice.OneIn(5)) continue;
          const int code = dice.OneIn(3) ? 137 : dice.OneIn(3) ? 1 : 0;
          facts.push_back(ReplicaExited{replica.Id(id), {.code = code, .at = now}});
        }
        if (dice.OneIn(30)) facts.push_back(JobRemoved{id});
        if (IsThere(job) && dice.OneIn(5)) {
          JobApplied edited{job.identity,
                            job.spec};  // at any stage: held, let go, or asking for other
          if (dice.OneIn(2)) edited.spec.suspend = !edited.spec.suspend;
          if (dice.OneIn(2))
            edited.spec.roles.begin()->second.demand.gpus = static_cast<int>(dice.Between(0, 2));
          facts.push_back(edited);
        }
      }
      now = now + base::Millis{dice.Between(0, 15'000)};
      if (dice.OneIn(4)) {
        std::vector<Fact> memory = setting;
        std::ranges::copy(shelf.Load(*restarted), std::back_inserter(memory));
        restarted = std::make_unique<Pool>(Settings{});
        restarted->Remember(memory);
      }
      const std::string deeds = Deeds(steady.Step(facts, now));
      const std::vector<Decision> decisions = restarted->Step(facts, now);
      shelf.Keep(*restarted, decisions);
      ASSERT_EQ(Deeds(decisions), deeds) << "seed " << seed << " step " << step;
      ASSERT_EQ(Promises(*restarted), Promises(steady)) << "seed " << seed << " step " << step;
      for (const std::string& broken : BrokenLaws(steady)) ADD_FAILURE() << broken;
    }
  }
}

}  // namespace
}  // namespace pondage::pool
