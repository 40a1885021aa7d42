#include "plan/plan.h"

#include <gtest/gtest.h>

#include "plan/sentence.h"
#include "plan/small_world.h"

namespace pondage::plan {
namespace {

using base::Instant;
using test::World;

TEST(Plan, AWholeGangStartsOrNothingOfIt) {
  World world;
  world.Machine("n1", 4);
  world.Gang(1, 2, 2);
  world.Gang(2, 1, 1);
  const Plan plan = world.Plan();
  ASSERT_EQ(plan.start.size(), 1u);
  EXPECT_EQ(plan.start[0].job, base::JobId{1});
  ASSERT_EQ(plan.start[0].grants.size(), 2u);
  EXPECT_EQ(plan.start[0].grants[0].gpus, (std::vector{0, 1}));
  EXPECT_EQ(plan.start[0].grants[1].gpus, (std::vector{2, 3}));
  ASSERT_EQ(plan.wait.size(), 1u);
  EXPECT_EQ(plan.wait[0].constraint, Constraint::kBusy);
}

TEST(Plan, PriorityThenArrivalThenId) {
  World world;
  world.Machine("n1", 4);
  world.Gang(1, 1, 1).arrived = {50};
  world.Gang(2, 1, 1).arrived = {20};
  world.Gang(3, 1, 1).arrived = {20};
  world.Gang(4, 1, 1).priority = 9;
  EXPECT_EQ(world.Started(), (std::vector<int>{4, 2, 3, 1}));
}

TEST(Plan, GangsInsideTheirGuaranteeComeFirst) {
  World world;
  world.Machine("n1", 4);
  world.Queue("owner", {}, 2);
  world.Gang(1, 4, 1).priority = 9;
  world.Gang(2, 1, 2, "owner");
  world.Gang(3, 1, 2, "owner");
  EXPECT_EQ(world.Started(), (std::vector<int>{2}))
      << "3 straddles the guarantee and comes after 1";
}

// The four refusals that every planner must get right: fragmented, never, limit, reserved.
TEST(Refusal, EnoughButNotTogetherIsFragmented) {
  World world;
  world.Machine("n1", 3);
  world.Machine("n2", 3);
  world.Machine("n3", 4);
  world.Run(100, "n3", 2);
  world.Gang(1, 1, 4);
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(refusal.constraint, Constraint::kFragmented);
  EXPECT_EQ(refusal.have, 8);
  EXPECT_EQ(refusal.need, 4);
  EXPECT_EQ(refusal.block, 3);
  EXPECT_EQ(refusal.block_need, 4);
  EXPECT_EQ(refusal.where, "n1");
  EXPECT_EQ(refusal.help, "workers=2 gpus=2");
  EXPECT_EQ(refusal.holders, std::vector{base::JobId{100}});
}

TEST(Refusal, MoreThanTheLargestMachineIsNever) {
  World world;
  world.Machine("n1", 8);
  world.Machine("n2", 8);
  world.Gang(1, 1, 16);
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(refusal.constraint, Constraint::kNever);
  EXPECT_EQ(refusal.id, "PND-Q012");
  EXPECT_EQ(refusal.block, 8);
  EXPECT_EQ(refusal.block_need, 16);
  EXPECT_EQ(refusal.help, "workers=2 gpus=8");
}

TEST(Refusal, OverALimitNamesTheLevelAndWhatFits) {
  World world;
  world.Machine("n1", 16);
  world.Queue("lab", 10);
  world.Run(100, "n1", 9, "lab");
  world.Gang(1, 10, 1, "lab");
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(refusal.constraint, Constraint::kLimit);
  EXPECT_EQ(refusal.where, "lab");
  EXPECT_EQ(refusal.limit, 10);
  EXPECT_EQ(refusal.used, 9);
  EXPECT_EQ(refusal.need, 10);
  EXPECT_EQ(refusal.help, "total=1");
}

// Kueue #6929.
TEST(Refusal, MoreThanALimitIsNeverAndBlocksNobody) {
  World world;
  world.Machine("n1", 4);
  world.Queue("a", 3);
  world.Gang(1, 1, 4, "a");
  world.Gang(2, 1, 3, "a");
  EXPECT_EQ(world.Started(), std::vector{2});
  EXPECT_EQ(world.Waiting(1).constraint, Constraint::kNever);
  EXPECT_EQ(world.Waiting(1).id, "PND-Q011");
}

TEST(Refusal, ALaterGangThatWouldFitSaysWhoIsAhead) {
  World world;
  world.Machine("n1", 4);
  world.Run(100, "n1", 2);
  world.Gang(1, 1, 4);
  world.Gang(2, 1, 1);
  const Plan plan = world.Plan();
  EXPECT_TRUE(plan.start.empty());
  EXPECT_EQ(plan.wait[0].constraint, Constraint::kBusy);
  EXPECT_EQ(plan.wait[1].constraint, Constraint::kOrder);
  EXPECT_EQ(plan.wait[1].ahead, std::vector{base::JobId{1}});
  EXPECT_EQ(plan.wait[1].ahead_count, 1);
}

TEST(Plan, CpuOnlyJobsDoNotWaitForGpus) {
  World world;
  world.Machine("n1", 2);
  world.Run(100, "n1", 1);
  world.Gang(1, 1, 2);
  world.Gang(2, 2, 0).groups[0].demand.cpu = {4000};
  EXPECT_EQ(world.Started(), std::vector{2});
}

TEST(Plan, AGangThatWaitsForCoresKeepsThem) {
  World world;
  world.Machine("n1", 2);
  world.Run(100, "n1", 0, "default", {}, {40'000});
  world.Gang(1, 1, 2).groups[0].demand.cpu = {32'000};
  world.Gang(2, 1, 0).groups[0].demand.cpu = {4000};
  EXPECT_TRUE(world.Started().empty());
  EXPECT_EQ(world.Waiting(1).resource, "cpu");
  EXPECT_EQ(world.Waiting(1).id, "PND-Q017");
  EXPECT_EQ(world.Waiting(1).have, 24'000);
  EXPECT_EQ(world.Waiting(2).constraint, Constraint::kOrder);
}

// Kueue #8309: a blocked head holds back only who wants the same.
TEST(Plan, OtherTypesAreNotHeldBack) {
  World world;
  world.Machine("x", 16, "X");
  world.Machine("y", 40, "Y");
  world.Run(100, "x", 16);
  world.Gang(1, 1, 8).groups[0].demand.gpu_type = "X";
  for (const auto& [job, gpus] : {std::pair{2, 8}, {3, 4}, {4, 2}}) {
    world.Gang(job, 1, gpus).groups[0].demand.gpu_type = "Y";
  }
  EXPECT_EQ(world.Started(), (std::vector{2, 3, 4}));
}

TEST(Plan, SmallMachinesAreNotHeldBackForWhoCannotUseThem) {
  World world;
  world.Machine("big", 8);
  world.Machine("small", 2);
  world.Run(100, "big", 1);
  world.Gang(1, 1, 8);
  world.Gang(2, 1, 2);
  world.Gang(3, 1, 1);
  EXPECT_EQ(world.Started(), std::vector{2});
  EXPECT_EQ(world.Waiting(3).ahead, std::vector{base::JobId{1}});
}

// Volcano #921: two may run, two do, four wait; one ends and exactly one starts.
TEST(Plan, OneEndUnderALimitLetsOneStart) {
  World world;
  world.Machine("n1", 8);
  world.Queue("q", 2);
  world.Run(100, "n1", 1, "q");
  for (int job = 1; job <= 4; ++job) world.Gang(job, 1, 1, "q");
  EXPECT_EQ(world.Started(), std::vector{1});
}

// Volcano #3932: the parent is named.
TEST(Refusal, AFullParentIsNamed) {
  World world;
  world.Machine("n1", 32);
  world.Queue("parent", 10);
  world.Queue("leaf", 20, 0, "parent");
  world.Run(100, "n1", 8, "leaf", Instant{7000});
  world.Gang(1, 4, 1, "leaf");
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(refusal.where, "parent");
  EXPECT_EQ(refusal.until, Instant{7000}) << "own job 100 ends";
  EXPECT_EQ(refusal.holders, std::vector{base::JobId{100}});
}

// Whoever waits for room under a limit is not overtaken for ever by smaller jobs under it, and
// other queues do not wait for it.
TEST(Plan, RoomUnderALimitIsKeptForWhoWaitsForIt) {
  World world;
  world.Machine("n1", 32);
  world.Queue("q", 4);
  world.Run(100, "n1", 2, "q");
  world.Gang(1, 4, 1, "q");
  world.Gang(2, 1, 1, "q");
  world.Gang(3, 8, 1);
  EXPECT_EQ(world.Started(), std::vector{3});
  EXPECT_EQ(world.Waiting(1).constraint, Constraint::kLimit);
  EXPECT_EQ(world.Waiting(2).constraint, Constraint::kOrder);
  EXPECT_EQ(world.Waiting(2).ahead, std::vector{base::JobId{1}});
}

// Volcano #3003, KAI #374: what can never start, is held or has no queue blocks nobody.
TEST(Plan, WhoWaitsForNobodyHoldsNobodyBack) {
  World world;
  world.Machine("n1", 4);
  world.Queue("closed");
  queue::Spec held{.name = "held"};
  held.held = true;
  world.queues().Put(held);
  world.Gang(1, 1, 8);
  world.Gang(2, 9, 1);
  world.Gang(3, 1, 4).held = true;
  world.Gang(4, 1, 4, "nowhere");
  world.Gang(5, 1, 4, "held");
  world.Gang(6, 2, 1).missing = 3;
  world.Gang(7, 1, 4).groups[0].demand.node_selector = {{"rack", "9"}};
  world.Gang(8, 1, 1).groups[0].demand.gpu_type = "B";
  Ask& late = world.Gang(9, 1, 1);
  late.held = true;
  late.not_before = Instant{9000};
  world.Gang(10, 1, 4);
  EXPECT_EQ(world.Started(), std::vector{10});
  const std::pair<int, const char*> rows[] = {{1, "PND-Q012"}, {2, "PND-Q012"}, {3, "PND-Q002"},
                                              {4, "PND-Q001"}, {5, "PND-Q003"}, {6, "PND-Q005"},
                                              {7, "PND-Q014"}, {8, "PND-Q013"}, {9, "PND-Q004"}};
  for (const auto& [job, id] : rows) EXPECT_EQ(world.Waiting(job).id, id) << job;
  EXPECT_EQ(world.Waiting(8).present, std::vector<std::string>{"A"});
  EXPECT_EQ(world.Waiting(8).help, "type=any");
  EXPECT_EQ(world.Waiting(7).where, "rack=9");
  EXPECT_EQ(world.Waiting(9).until, Instant{9000});
}

TEST(Refusal, MachinesOutOfServiceAreNamed) {
  World world;
  world.Machine("n1", 4);
  world.Machine("n2", 8);
  world.fleet().Cordon("n2", true);
  world.Gang(1, 1, 8);
  world.Gang(2, 1, 4);
  EXPECT_EQ(world.Started(), std::vector{2}) << "nobody waits for a cordoned machine";
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(refusal.constraint, Constraint::kUnhealthy);
  EXPECT_EQ(refusal.where, "n2");
  EXPECT_EQ(refusal.help, "uncordon=n2");
}

TEST(Refusal, AMachineInTroubleSaysWhichAndIsNotToBeUncordoned) {
  World world;
  fleet::Node node = world.Machine("n1", 4);
  node.health = fleet::Health::kCordoned;
  node.trouble = "less than 1024 MiB are free";
  world.fleet().See(node);
  world.Gang(1, 1, 4);
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(refusal.constraint, Constraint::kUnhealthy);
  EXPECT_EQ(refusal.where, "n1 (less than 1024 MiB are free)");
  EXPECT_EQ(refusal.help, "");
}

// Kueue #11715: 10,000 equal jobs that do not fit are tried once; the one that fits starts.
TEST(Plan, TenThousandEqualJobsAreTriedOnce) {
  World world;
  world.Machine("n1", 8);
  world.Machine("n2", 16);
  world.Run(100, "n2", 1);
  for (int job = 1; job <= 10'000; ++job) world.Gang(job, 1, 16);
  world.Gang(10'001, 1, 8);
  const Plan plan = world.Plan();
  ASSERT_EQ(plan.start.size(), 1u);
  EXPECT_EQ(plan.start[0].job, base::JobId{10'001});
  EXPECT_EQ(plan.wait.size(), 10'000u);
  EXPECT_EQ(plan.wait.back().ahead_count, 9'999);
}

// knavigator: one gang of 700 on 700 machines; 700 single jobs.
TEST(Plan, ManyMachines) {
  World world;
  for (int i = 0; i < 700; ++i) world.Machine("n" + std::to_string(i), 8);
  world.Gang(1, 700, 8);
  EXPECT_EQ(world.Plan().start[0].grants.size(), 700u);
  world.asks().clear();
  for (int job = 1; job <= 700; ++job) world.Gang(job, 1, 8);
  EXPECT_EQ(world.Started().size(), 700u);
}

// HAMi #1146: one GPU goes to the smaller block; large blocks stay whole.
TEST(Plan, LargeBlocksStayWhole) {
  World world;
  world.Machine("a", 8);
  world.Machine("b", 3);
  world.Gang(1, 1, 1);
  EXPECT_EQ(world.Plan().start[0].grants[0].node, "b");
}

// KAI #1851: the verdict does not depend on where the one machine that serves stands in the list.
TEST(Plan, EveryPermutationOfMachinesGivesTheSameVerdict) {
  for (int good = 0; good < 12; ++good) {
    World world;
    for (int i = 0; i < 12; ++i) {
      const std::string name = "n" + std::to_string(100 + i);
      world.Machine(name, 4, i == good ? "B" : "A");
    }
    Ask& ask = world.Gang(1, 2, 2);
    ask.groups[0].demand.gpu_type = "B";
    ASSERT_EQ(world.Started(), std::vector{1}) << good;
  }
}

TEST(Plan, ChiefPsAndWorkersAreOneGang) {
  World world;
  world.Machine("n1", 4);
  Ask& ask = world.Gang(1, 2, 2);
  ask.groups.insert(ask.groups.begin(), {{base::Role::kChief, 1, {.cpu = {1000}}},
                                         {base::Role::kPs, 2, {.cpu = {2000}}}});
  const Plan plan = world.Plan();
  ASSERT_EQ(plan.start.size(), 1u);
  const auto& grants = plan.start[0].grants;
  ASSERT_EQ(grants.size(), 5u);
  EXPECT_EQ(grants[0].cpu.value, 1000);
  EXPECT_EQ(grants[2].cpu.value, 2000);
  EXPECT_EQ(grants[4].gpus, (std::vector{2, 3}));
}

TEST(Refusal, HugeNumbersAreRefusedAndOverflowNothing) {
  World world;
  world.Machine("n1", 4);
  world.Queue("q", 8);
  world.Gang(1, 2'000'000'000, 2'000'000'000);
  world.Gang(2, 2'000'000'000, 0);
  world.Gang(3, 20'000, 2'000'000'000, "q").groups[0].demand.memory = {std::int64_t{1} << 62};
  world.Gang(4, 1, 2'000'000'000);
  EXPECT_TRUE(world.Started().empty());
  for (const int job : {1, 2, 3, 4}) {
    EXPECT_EQ(world.Waiting(job).constraint, Constraint::kNever) << job;
    EXPECT_FALSE(Sentence(world.Waiting(job)).empty());
  }
  EXPECT_EQ(world.Waiting(2).id, "PND-Q019");
  EXPECT_EQ(world.Waiting(4).help, "gpus=4");
}

TEST(Sentence, NamesNumbersAndJobsInBothLanguages) {
  World world;
  world.Machine("gpu03", 8);
  world.Run(7, "gpu03", 2, "default", Instant{1'800'000'000'000});
  world.Gang(1, 1, 8);
  const NameOf names = [](base::JobId job) { return job.value == 7 ? "unet-1" : "other"; };
  const Refusal refusal = world.Waiting(1);
  EXPECT_EQ(Sentence(refusal, phrase::Language::kEnglish, names),
            "needs 8 GPUs on one machine; 6 are free, at most 6 together (on gpu03); most "
            "are held by unet-1; the first ends by 2027-01-15 08:00:00 UTC");
  EXPECT_EQ(Sentence(refusal, phrase::Language::kChinese, names),
            "需要同一台机器 8 张卡; 空闲 6 张, 同一台最多 6 张 (gpu03), 主要被 unet-1 "
            "占用, 最早 "
            "2027-01-15 08:00:00 UTC 前释放");
  EXPECT_EQ(Sentence(refusal),
            "needs 8 GPUs on one machine; 6 are free, at most 6 together (on gpu03); the "
            "first ends by 2027-01-15 08:00:00 UTC");
}

TEST(Sentence, WhatIsAskedIsRoundedUpAndWhatThereIsDown) {
  Refusal refusal{.id = "PND-Q018", .resource = "memory"};
  refusal.need = refusal.block_need = (std::int64_t{4} << 30) + 1;
  refusal.have = refusal.block = (std::int64_t{4} << 30) - 1;
  EXPECT_EQ(Sentence(refusal),
            "needs 4097 MiB of memory on one machine; 4095 MiB is free, at most 4095 MiB together");
}

}  // namespace
}  // namespace pondage::plan
