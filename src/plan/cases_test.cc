// The cases of other schedulers' issue trackers that this planner must get right, each under its
// number there: what went wrong elsewhere, and the right answer. Those that evict come with
// eviction.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/planner.h"
#include "plan/small_world.h"

namespace pondage::plan {
namespace {

using base::Instant;
using base::SecondsLong;
using base::WholeGpus;
using test::World;

void PutQueue(World& world, queue::Spec spec) {
  world.queues().Put(std::move(spec));
}

// Kueue #10131 and others: weight 0 comes last, whatever it used.
TEST(Cases, K10WeightZeroIsLast) {
  World world;
  world.Machine("n1", 1);
  PutQueue(world, {.name = "e", .weight = 0});
  PutQueue(world, {.name = "h", .weight = 1});
  world.Gang(1, 1, 1, "e");
  world.Gang(2, 1, 1, "h");
  EXPECT_EQ(world.Started(), std::vector{2});
}

// Kueue #14477: 100 queues with one fitting job each, all in one cycle.
TEST(Cases, K11AHundredQueuesInOneCycle) {
  World world;
  world.Machine("n1", 100);
  for (int i = 1; i <= 100; ++i) {
    world.Queue("q" + std::to_string(i));
    world.Gang(i, 1, 1, "q" + std::to_string(i));
  }
  EXPECT_EQ(world.Started().size(), 100u);
}

// Kueue #5937: a queue that was removed while its jobs run still counts at its parent.
TEST(Cases, K7ARemovedQueueCountsUntilItsJobsEnd) {
  World world;
  world.Machine("n1", 32);
  world.Queue("p", 20);
  world.Queue("q1", {}, 0, "p");
  world.Queue("q2", {}, 0, "p");
  world.Run(100, "n1", 8, "q1");
  world.Run(101, "n1", 8, "q2");
  Planner planner;
  for (const char* name : {"p", "q1", "q2"}) planner.PutQueue(*world.queues().Find(name));
  planner.SeeNode(world.fleet().Find("n1")->node);
  const fleet::Grant first{"n1", {0, 1, 2, 3, 4, 5, 6, 7}, {}, {}, {}};
  planner.Bind({.job = {100}, .queue = "q1"}, first, Instant{0});
  planner.Bind({.job = {101}, .queue = "q2"}, {"n1", {8, 9, 10, 11, 12, 13, 14, 15}, {}, {}, {}},
               Instant{0});
  planner.RemoveQueue("q1");
  Ask ask{.job = {1}, .queue = "q2", .arrived = {1}};
  ask.groups.push_back({base::Role::kWorker, 8, {.gpus = 1}});
  planner.PutAsk(ask);
  EXPECT_TRUE(planner.Cycle(Instant{1}).start.empty());
  EXPECT_EQ(planner.Explain({1}).where, "p");
  EXPECT_EQ(planner.Explain({1}).used, 16);
  planner.Release({100}, first, Instant{2});
  EXPECT_EQ(planner.Cycle(Instant{2}).start.size(), 1u);
}

// Kueue #8309: in a strict queue a blocked head holds back those that want the same, not others.
TEST(Cases, K6AStrictQueueHoldsBackTheSameKind) {
  World world;
  world.Machine("x", 16, "X");
  world.Machine("y", 40, "Y");
  PutQueue(world, {.name = "default", .order = queue::Order::kStrict});
  world.Run(100, "x", 15, "default", Instant{60'000});
  const std::pair<const char*, int> line[] = {{"X", 8}, {"Y", 8}, {"Y", 4}, {"Y", 2}, {"X", 1}};
  int job = 0;
  for (const auto& [type, gpus] : line) {
    Ask& ask = world.Gang(++job, 1, gpus);
    ask.groups[0].demand.gpu_type = type;
    ask.limit = SecondsLong(30);
  }
  EXPECT_EQ(world.Started(), (std::vector{2, 3, 4}));
  EXPECT_EQ(world.Waiting(5).constraint, Constraint::kOrder) << "it would end in time";
  PutQueue(world, {.name = "default"});
  EXPECT_EQ(world.Started(), (std::vector{2, 3, 4, 5}));
}

// Volcano #1860: limit 10, use 9, ask 10.
TEST(Cases, V5AnAskBeyondTheLimitWaits) {
  World world;
  world.Machine("n1", 32);
  world.Queue("q", 10);
  world.Run(100, "n1", 9, "q");
  world.Gang(1, 10, 1, "q");
  EXPECT_TRUE(world.Started().empty());
  EXPECT_EQ(world.Waiting(1).constraint, Constraint::kLimit);
}

// Volcano #5805: a running gang's lost replica comes before new work.
TEST(Cases, V8AReplacementComesFirst) {
  World world;
  world.Machine("n1", 4);
  world.Run(100, "n1", 3);
  world.Gang(1, 1, 1).arrived = {1};
  Ask& lost = world.Gang(100, 1, 1);
  lost.replaces = true;
  EXPECT_EQ(world.Started(), std::vector{100});
}

// KAI #374: an impossible demand blocks nothing, however its queue stands.
TEST(Cases, A2AnImpossibleDemandBlocksNothing) {
  World world;
  for (const char* name : {"n1", "n2", "n3"}) world.Machine(name, 4);
  for (const char* name : {"a", "b", "c"}) world.Queue(name, {}, 4);
  world.Gang(1, 1, 8, "c");
  for (int job = 2; job <= 13; ++job) world.Gang(job, 1, 1, job % 2 == 0 ? "a" : "b");
  EXPECT_EQ(world.Started().size(), 12u);
  EXPECT_EQ(world.Waiting(1).constraint, Constraint::kNever);
}

// HAMi #1491: of 8 GPUs in pairs one pair ends; the next pair gets exactly these two.
TEST(Cases, H6TheFreedCardsAreGivenAgain) {
  World world;
  world.Machine("n1", 8);
  for (int job = 100; job < 104; ++job) world.Run(job, "n1", 2);
  for (const fleet::Grant& grant : std::vector(world.fleet().Find("n1")->grants.at({102}))) {
    world.fleet().Release({102}, grant);
  }
  std::erase_if(world.holdings(), [](const Holding& h) { return h.job == base::JobId{102}; });
  world.Gang(1, 1, 2);
  EXPECT_EQ(world.Plan().start[0].grants[0].gpus, (std::vector{4, 5}));
}

// Slurm 20564: two jobs for the same machine, limits of 20 s and 30 s: never at the same time.
TEST(Cases, S1ReservationsNeverOverlap) {
  World world;
  world.Machine("n1", 4);
  world.Run(100, "n1", 4, "default", Instant{10'000});
  world.Gang(1, 1, 4).limit = SecondsLong(20);
  world.Gang(2, 1, 4).limit = SecondsLong(30);
  EXPECT_EQ(world.Waiting(1).start_latest, Instant{10'000});
  EXPECT_EQ(world.Waiting(2).start_latest, Instant{30'000});
}

// Slurm 15011: what can never start takes no place among the first so many.
TEST(Cases, S14PhantomsTakeNoReservation) {
  World world;
  world.policy().reservations = 1;
  world.Machine("n1", 4);
  world.Run(100, "n1", 4, "default", Instant{10'000});
  for (int job = 1; job <= 10; ++job) world.Gang(job, 1, 64);
  world.Gang(11, 1, 4).limit = SecondsLong(60);
  EXPECT_EQ(world.Waiting(11).start_latest, Instant{10'000});
}

// knavigator's 53 gangs on 32 one-job machines, two minutes each: nine waves, no machine idle.
TEST(Cases, N1NineWaves) {
  constexpr std::pair<int, int> kGangs[] = {{1, 32}, {2, 16}, {3, 10}, {1, 2}, {4, 8},
                                            {5, 6},  {2, 1},  {6, 5},  {1, 2}, {7, 4},
                                            {1, 2},  {2, 1},  {8, 4},  {9, 3}, {1, 5}};
  World world;
  for (int i = 0; i < 32; ++i) world.Machine("n" + std::to_string(100 + i), 1);
  int job = 0;
  for (const auto& [count, nodes] : kGangs) {
    for (int i = 0; i < count; ++i) world.Gang(++job, nodes, 1).limit = SecondsLong(120);
  }
  EXPECT_EQ(job, 53);
  int waves = 0;
  for (Instant now{0}; !world.asks().empty() || !world.holdings().empty(); ++waves) {
    const Plan plan = world.Plan(now);
    world.CarryOut(plan, now);
    int busy = 0;
    for (const Holding& holding : world.holdings()) busy += holding.gpus;
    ASSERT_EQ(busy, 32) << "wave " << waves;
    world.EndAll();
    now = now + SecondsLong(120);
  }
  EXPECT_EQ(waves, 9);
}

// Volcano #5189: the required level has no domain for two machines: never, and never spread.
TEST(Cases, V11ARequiredLevelIsNeverBroken) {
  World world;
  for (int i = 0; i < 4; ++i)
    world.Machine("n" + std::to_string(i), 8).labels["rack"] = std::to_string(i);
  world.SeeAgain();
  Ask& ask = world.Gang(1, 2, 8);
  ask.topology = {"rack", true};
  EXPECT_TRUE(world.Started().empty());
  EXPECT_EQ(world.Waiting(1).id, "PND-Q024");
  EXPECT_EQ(world.Waiting(1).block, 8);
  EXPECT_EQ(world.Waiting(1).where, "rack");
  world.asks()[0].topology.required = false;
  EXPECT_EQ(world.Started(), std::vector{1});
}

// knavigator: 12 machines, two to a leaf switch, two leaves to a spine; the spine of n5 to n8 has
// three free.
TEST(Cases, N2APreferredLevelIsMetWhereItCanBe) {
  World world;
  for (int i = 1; i <= 12; ++i) {
    const std::string name = (i < 10 ? "n0" : "n") + std::to_string(i);
    world.Machine(name, 1).labels["spine"] = std::to_string((i - 1) / 4);
  }
  world.SeeAgain();
  int job = 100;
  for (const char* busy : {"n01", "n03", "n06", "n11", "n12"}) world.Run(job++, busy, 1);
  world.Gang(1, 3, 1).topology = {"spine", false};
  const Plan plan = world.Plan();
  ASSERT_EQ(plan.start.size(), 1u);
  std::vector<std::string> nodes;
  for (const fleet::Grant& grant : plan.start[0].grants) nodes.push_back(grant.node);
  EXPECT_EQ(nodes, (std::vector<std::string>{"n05", "n07", "n08"}));
  world.asks()[0].topology.required = true;
  EXPECT_EQ(world.Started(), std::vector{1});
  world.asks()[0].groups[0].count = 4;
  EXPECT_EQ(world.Waiting(1).id, "PND-Q025");
}

// The domain that is left with least; the machines a job failed on before are not used.
TEST(Topology, TheSmallestDomainThatHoldsIt) {
  World world;
  for (int i = 0; i < 6; ++i) {
    world.Machine("n" + std::to_string(i), 4).labels["rack"] = i < 4 ? "large" : "small";
  }
  world.SeeAgain();
  Ask& ask = world.Gang(1, 2, 4);
  ask.topology = {"rack", true};
  EXPECT_EQ(world.Plan().start[0].grants[0].node, "n4");
  ask.avoid = {"n5"};
  EXPECT_EQ(world.Plan().start[0].grants[0].node, "n0");
  ask.topology = {};
  ask.avoid = {"n0", "n1", "n2", "n3", "n5"};
  EXPECT_TRUE(world.Started().empty());
}

// Users of one queue: who used least is served first; one job ahead is enough to alternate.
TEST(Order, UsersTakeTurns) {
  World world;
  world.Machine("n1", 4);
  for (int job = 1; job <= 4; ++job) world.Gang(job, 1, 1).user = "eva";
  for (int job = 5; job <= 8; ++job) world.Gang(job, 1, 1).user = "tom";
  EXPECT_EQ(world.Started(), (std::vector{1, 5, 2, 6}));
}

TEST(Order, QueuesTakeTurnsByWeight) {
  World world;
  world.Machine("n1", 6);
  PutQueue(world, {.name = "heavy", .weight = 2});
  PutQueue(world, {.name = "light", .weight = 1});
  for (int job = 1; job <= 6; ++job) world.Gang(job, 1, 1, "light");
  for (int job = 11; job <= 16; ++job) world.Gang(job, 1, 1, "heavy");
  int heavy = 0;
  for (const int job : world.Started()) heavy += job > 10 ? 1 : 0;
  EXPECT_EQ(heavy, 4);
}

// Within one user's own jobs the short one is first, until the long one has waited long enough.
TEST(Order, SmallFirstWithAgeing) {
  World world;
  world.policy().size = Size::kAged;
  world.Machine("n1", 1);
  Ask& large = world.Gang(1, 1, 1);
  large.limit = SecondsLong(1000);
  Ask& small = world.Gang(2, 1, 1);
  small.limit = SecondsLong(500);
  large.arrived = small.arrived = Instant{0};
  EXPECT_EQ(world.Started(), std::vector{2});
  // A fresh small one counts 500. The large one counts 500 after ten of its own lengths.
  const Instant later{10'000'000};
  small.arrived = later;
  EXPECT_EQ(world.Plan(later).start[0].job, base::JobId{1}) << "equal: arrival decides";
  small.arrived = large.arrived = later;
  EXPECT_EQ(world.Plan(later).start[0].job, base::JobId{2});
}

TEST(Order, ArrivalTurnsTheSizeOff) {
  World world;
  world.policy().size = Size::kAged;
  world.Machine("n1", 1);
  PutQueue(world, {.name = "default", .order = queue::Order::kArrival});
  world.Gang(1, 1, 1).limit = SecondsLong(1000);
  world.Gang(2, 1, 1).limit = SecondsLong(10);
  EXPECT_EQ(world.Started(), std::vector{1});
}

TEST(Order, OneUsersLimitHoldsBackNobodyElse) {
  World world;
  world.Machine("n1", 8);
  PutQueue(world, {.name = "default", .user_limit = WholeGpus(2)});
  for (int job = 1; job <= 4; ++job) world.Gang(job, 1, 1).user = "eva";
  world.Gang(5, 1, 3).user = "tom";
  world.Gang(6, 1, 2).user = "ann";
  EXPECT_EQ(world.Started(), (std::vector{1, 6, 2}));
  EXPECT_EQ(world.Waiting(3).constraint, Constraint::kLimit);
  EXPECT_EQ(world.Waiting(5).constraint, Constraint::kNever);
}

// The baselines are settings: the head of the line holds back all, nobody, or whoever wants the
// same.
TEST(Policies, Backfill) {
  const struct {
    Backfill backfill;
    std::vector<int> started;
  } rows[] = {{Backfill::kConservative, {2, 4}},
              {Backfill::kPool, {4}},
              {Backfill::kLine, {}},
              {Backfill::kFree, {2, 3, 4}}};
  for (const auto& row : rows) {
    World world;
    world.policy().backfill = row.backfill;
    world.Machine("a", 4, "A");
    world.Machine("b", 4, "B");
    world.Run(100, "a", 2, "default", Instant{30 * 60'000});
    Ask& head = world.Gang(1, 1, 4);
    head.limit = SecondsLong(3600);
    head.groups[0].demand.gpu_type = "A";
    Ask& in_time = world.Gang(2, 1, 1);
    in_time.limit = SecondsLong(30 * 60);
    in_time.groups[0].demand.gpu_type = "A";
    Ask& too_long = world.Gang(3, 1, 1);
    too_long.limit = SecondsLong(3600);
    too_long.groups[0].demand.gpu_type = "A";
    world.Gang(4, 1, 1).groups[0].demand.gpu_type = "B";
    EXPECT_EQ(world.Started(), row.started) << static_cast<int>(row.backfill);
  }
}

// A reservation is kept over cycles; an early end moves it forward, and only for the better.
TEST(Reservations, AreKeptAndMoveForward) {
  Planner planner({.size = Size::kNone});
  planner.PutQueue({.name = "default"});
  for (const char* name : {"a", "b"}) {
    fleet::Node node{.name = name};
    for (int i = 0; i < 2; ++i) node.gpus.push_back({.id = std::to_string(i), .type = "A"});
    planner.SeeNode(node);
  }
  const fleet::Grant on_a{"a", {0, 1}, {}, {}, {}};
  const fleet::Grant on_b{"b", {0, 1}, {}, {}, {}};
  planner.Bind({.job = {100}, .queue = "default", .ends_by = Instant{50'000}}, on_a, {0});
  planner.Bind({.job = {101}, .queue = "default", .ends_by = Instant{90'000}}, on_b, {0});
  for (const int job : {1, 2}) {
    Ask ask{.job = {job}, .queue = "default", .arrived = {job}, .limit = SecondsLong(30)};
    ask.groups.push_back({base::Role::kWorker, 1, {.gpus = 2}});
    planner.PutAsk(ask);
  }
  planner.Cycle(Instant{1});
  EXPECT_EQ(planner.Reserved({1})->at, Instant{50'000});
  EXPECT_EQ(planner.Reserved({2})->at, Instant{80'000}) << "after the first, on the same machine";
  planner.Release({101}, on_b, Instant{10'000});
  const Plan plan = planner.Cycle(Instant{10'000});
  ASSERT_EQ(plan.start.size(), 1u);
  EXPECT_EQ(plan.start[0].job, base::JobId{1});
  EXPECT_EQ(plan.start[0].grants[0].node, "b");
  planner.Bind({.job = {1}, .queue = "default", .ends_by = Instant{40'000}}, on_b, {10'000});
  planner.DropAsk({1});
  planner.Cycle(Instant{10'001});
  EXPECT_EQ(planner.Reserved({2})->at, Instant{40'000});
  EXPECT_EQ(planner.Reserved({2})->grants[0], on_b);
}

// A planner with one machine, told what the small worlds have no words for.
struct OneMachine {
  explicit OneMachine(int gpus) : planner({.size = Size::kNone}) {
    planner.PutQueue({.name = "default"});
    fleet::Node node{.name = "n"};
    for (int i = 0; i < gpus; ++i) node.gpus.push_back({.id = std::to_string(i), .type = "A"});
    planner.SeeNode(node);
  }

  Ask Job(int job, int gpus, std::int64_t minutes) const {
    Ask ask{.job = {job}, .queue = "default", .arrived = {job}, .limit = SecondsLong(60 * minutes)};
    ask.groups.push_back({base::Role::kWorker, 1, {.gpus = gpus}});
    return ask;
  }

  Planner planner;
};

// Slurm 15931: maintenance in 30 minutes; a job of two hours does not start there.
TEST(Cases, S9NothingStartsIntoAnOutage) {
  OneMachine pool(4);
  pool.planner.SetOutages({{"n", Instant{30 * 60'000}, Instant{90 * 60'000}}});
  pool.planner.PutAsk(pool.Job(1, 1, 120));
  pool.planner.PutAsk(pool.Job(2, 1, 30));
  const Plan plan = pool.planner.Cycle(Instant{0});
  ASSERT_EQ(plan.start.size(), 1u);
  EXPECT_EQ(plan.start[0].job, base::JobId{2});
  EXPECT_EQ(pool.planner.Reserved({1})->at, Instant{90 * 60'000});
  const Refusal refusal = pool.planner.Explain({1});
  EXPECT_EQ(refusal.id, "PND-Q027");
  EXPECT_EQ(refusal.until, Instant{30 * 60'000});
  EXPECT_EQ(refusal.help, "time=1800");
  EXPECT_LE(plan.wake, Instant{30 * 60'000});
}

// Slurm 16858: an array of ten, three at a time, one running: two more.
TEST(Cases, S12AnArrayRunsSoManyAtATime) {
  OneMachine pool(16);
  pool.planner.Bind({.job = {100}, .queue = "default", .array = "sweep"}, {"n", {0}, {}, {}, {}},
                    Instant{0});
  for (int job = 1; job <= 9; ++job) {
    Ask ask = pool.Job(job, 1, 10);
    ask.array = "sweep";
    ask.throttle = 3;
    pool.planner.PutAsk(ask);
  }
  pool.planner.PutAsk(pool.Job(10, 1, 10));
  const Plan plan = pool.planner.Cycle(Instant{0});
  std::vector<std::int64_t> started;
  for (const Placement& placement : plan.start) {
    started.push_back(placement.job.value);
    pool.planner.Bind({.job = placement.job,
                       .queue = "default",
                       .array = placement.job.value < 10 ? "sweep" : ""},
                      placement.grants[0], Instant{0});
    pool.planner.DropAsk(placement.job);
  }
  EXPECT_EQ(started, (std::vector<std::int64_t>{1, 2, 10}));
  EXPECT_EQ(pool.planner.Explain({3}).id, "PND-Q026");
  EXPECT_EQ(pool.planner.Explain({3}).used, 3);
}

// A job that takes less time than it asked gets the longest that delays nobody.
TEST(MinTime, TheLongestThatDelaysNobody) {
  OneMachine pool(4);
  pool.planner.Bind({.job = {100}, .queue = "default", .ends_by = Instant{30 * 60'000}},
                    {"n", {0, 1}, {}, {}, {}}, Instant{0});
  pool.planner.PutAsk(pool.Job(1, 4, 60));
  Ask flexible = pool.Job(2, 1, 120);
  flexible.min_time = SecondsLong(40 * 60);
  pool.planner.PutAsk(flexible);
  EXPECT_TRUE(pool.planner.Cycle(Instant{0}).start.empty())
      << "forty minutes would delay the first";
  flexible.min_time = SecondsLong(10 * 60);
  pool.planner.PutAsk(flexible);
  const Plan plan = pool.planner.Cycle(Instant{0});
  ASSERT_EQ(plan.start.size(), 1u);
  EXPECT_EQ(plan.start[0].job, base::JobId{2});
  EXPECT_EQ(plan.start[0].limit, SecondsLong(30 * 60));
  EXPECT_EQ(pool.planner.Reserved({1})->at, Instant{30 * 60'000});
}

}  // namespace
}  // namespace pondage::plan
