#include "fleet/fleet.h"

#include <gtest/gtest.h>

namespace pondage::fleet {
namespace {

Node Machine(const std::string& name, int gpus, std::int64_t cores = 16) {
  Node node{.name = name, .cpu = {cores * 1000}, .memory = {64LL << 30}};
  for (int i = 0; i < gpus; ++i)
    node.gpus.push_back({.id = name + "-" + std::to_string(i), .type = "A"});
  return node;
}

constexpr base::JobId kOne{1};
constexpr base::JobId kTwo{2};

TEST(Fleet, WhatIsBoundIsNotFreeUntilItIsReleased) {
  Fleet fleet;
  fleet.See(Machine("n1", 4));
  const Grant grant{"n1", {1, 3}, {2000}, {1 << 30}};
  EXPECT_TRUE(fleet.Fits(grant));
  fleet.Bind(kOne, grant);
  EXPECT_FALSE(fleet.Fits(grant));
  EXPECT_EQ(fleet.Find("n1")->FreeGpus(), 2);
  EXPECT_EQ(fleet.Find("n1")->free_cpu.value, 14'000);
  EXPECT_EQ(fleet.Find("n1")->holder[3], kOne);
  fleet.Release(kOne, grant);
  EXPECT_TRUE(fleet.Fits(grant));
  EXPECT_EQ(fleet.Find("n1")->free_cpu.value, 16'000);
}

TEST(FleetDeathTest, AGpuIsNeverBoundTwice) {
  Fleet fleet;
  fleet.See(Machine("n1", 2));
  fleet.Bind(kOne, {"n1", {0}, {}, {}});
  EXPECT_DEATH(fleet.Bind(kTwo, {"n1", {0, 1}, {}, {}}), "required");
  EXPECT_DEATH(fleet.Bind(kTwo, {"n2", {0}, {}, {}}), "required");
  EXPECT_DEATH(fleet.Bind(kTwo, {"n1", {1, 1}, {}, {}}), "required");
  EXPECT_DEATH(fleet.Release(kTwo, {"n1", {0}, {}, {}}), "required");
}

TEST(Fleet, WhoMayBePlacedWhere) {
  Node node = Machine("n1", 4);
  node.gpus[0].foreign = true;
  node.gpus[1].healthy = false;
  node.gpus[3].type = "B";
  node.labels["zone"] = "east";
  Fleet fleet;
  fleet.See(node);
  struct Row {
    std::string_view says;
    Demand demand;
    std::optional<std::vector<int>> gpus;
  };
  const Row rows[] = {
      {"strangers and broken GPUs are left alone", {.gpus = 2}, std::vector{2, 3}},
      {"only GPUs of the type asked for", {.gpus = 1, .gpu_type = "B"}, std::vector{3}},
      {"no GPUs, only cores", {.cpu = {16'000}}, std::vector<int>{}},
      {"more than is there", {.gpus = 3}, {}},
      {"more cores than there are", {.cpu = {16'001}}, {}},
      {"a label it carries", {.gpus = 1, .node_selector = {{"zone", "east"}}}, std::vector{2}},
      {"a label with another value", {.gpus = 1, .node_selector = {{"zone", "west"}}}, {}},
      {"a label it does not carry", {.node_selector = {{"rack", "1"}}}, {}},
  };
  for (const Row& row : rows) {
    const std::optional<Grant> grant = FitOn(*fleet.Find("n1"), row.demand);
    ASSERT_EQ(grant.has_value(), row.gpus.has_value()) << row.says;
    if (!grant) continue;
    EXPECT_EQ(grant->gpus, *row.gpus) << row.says;
    EXPECT_TRUE(fleet.Fits(*grant)) << row.says;
  }
  EXPECT_TRUE(CouldFit(node, {.gpus = 4})) << "health is not asked";
  EXPECT_FALSE(CouldFit(node, {.gpus = 5}));
}

TEST(Fleet, NothingNewOnACordonedOrLostNode) {
  Fleet fleet;
  fleet.See(Machine("n1", 2));
  fleet.Bind(kOne, {"n1", {0}, {}, {}});
  EXPECT_TRUE(fleet.Cordon("n1", true));
  EXPECT_FALSE(fleet.Fits({"n1", {1}, {}, {}}));
  EXPECT_EQ(fleet.Find("n1")->FreeGpus(), 0);
  EXPECT_EQ(fleet.Find("n1")->holder[0], kOne) << "what runs stays";
  EXPECT_TRUE(fleet.Cordon("n1", false));
  EXPECT_EQ(fleet.Find("n1")->FreeGpus(), 1);
  fleet.Lose("n1");
  EXPECT_EQ(fleet.Find("n1")->FreeGpus(), 0);
  EXPECT_TRUE(fleet.Cordon("n1", false)) << "a lost node is not found by uncordoning it";
  EXPECT_EQ(fleet.Find("n1")->node.health, Health::kLost);
  EXPECT_FALSE(fleet.Cordon("n2", true));
}

TEST(Fleet, AForgottenNodeStaysUntilItsLastGrantIsGone) {
  Fleet fleet;
  fleet.See(Machine("n1", 2));
  const Grant grant{"n1", {0}, {}, {}};
  fleet.Bind(kOne, grant);
  fleet.Forget("n1");
  ASSERT_NE(fleet.Find("n1"), nullptr);
  EXPECT_EQ(fleet.Find("n1")->node.health, Health::kLost);
  fleet.Release(kOne, grant);
  EXPECT_EQ(fleet.Find("n1"), nullptr);
}

TEST(Fleet, ANodeThatComesBackSmallerIsOverdrawnAndStillReleases) {
  Fleet fleet;
  fleet.See(Machine("n1", 4, 16));
  const Grant grant{"n1", {3}, {12'000}, {}};
  fleet.Bind(kOne, grant);
  fleet.See(Machine("n1", 2, 8));
  EXPECT_EQ(fleet.Find("n1")->free_cpu.value, -4000);
  EXPECT_EQ(fleet.Find("n1")->FreeGpus(), 2);
  EXPECT_EQ(fleet.Find("n1")->holder[3], kOne);
  EXPECT_TRUE(fleet.Fits({"n1", {0}, {}, {}})) << "a replica that asks for no cores lacks none";
  EXPECT_FALSE(fleet.Fits({"n1", {0}, {1}, {}}));
  fleet.Release(kOne, grant);
  EXPECT_EQ(fleet.Find("n1")->free_cpu.value, 8000);
  EXPECT_EQ(fleet.Find("n1")->holder.size(), 2u);
}

}  // namespace
}  // namespace pondage::fleet
