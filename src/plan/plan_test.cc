#include "plan/plan.h"

#include <gtest/gtest.h>

#include "plan/small_world.h"

namespace pondage::plan {
namespace {

using fleet::Demand;
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

// scheduling.md, section 4, tests of refusals.
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

}  // namespace
}  // namespace pondage::plan
