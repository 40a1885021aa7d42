#include "fleet/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace pondage::fleet {
namespace {

Node Machine(int gpus, const std::string& type = "A") {
  Node node{.name = "n", .cpu = {8000}, .memory = {std::int64_t{16} << 30}};
  for (int i = 0; i < gpus; ++i) {
    node.gpus.push_back({.id = std::to_string(i), .type = type, .memory = {40'000}});
  }
  return node;
}

TEST(States, EqualMachinesAreInOneStateAndCapacityIsCounted) {
  States states;
  const StateId four = states.NumberOfEmpty(Machine(4), true);
  EXPECT_EQ(four, states.NumberOfEmpty(Machine(4), true));
  EXPECT_NE(four, states.NumberOfEmpty(Machine(4, "B"), true));
  const struct {
    const char* says;
    Demand demand;
    int members;
  } rows[] = {
      {"whole GPUs", {.gpus = 2}, 2},
      {"one too large", {.gpus = 5}, 0},
      {"cores are short first", {.gpus = 1, .cpu = {3000}}, 2},
      {"another type", {.gpus = 1, .gpu_type = "B"}, 0},
      {"either type", {.gpus = 1, .gpu_type = "B", .or_types = {"A"}}, 4},
      {"parts do not span GPUs", {.gpus = 1, .share = {400}}, 8},
      {"a part of the memory: 300 of 1000", {.gpus = 1, .gpu_memory = {12'000}}, 12},
      {"more memory than a device has", {.gpus = 1, .gpu_memory = {50'000}}, 0},
      {"nothing", {}, States::kMost},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(states.Capacity(four, states.Number(row.demand)), row.members) << row.says;
  }
  EXPECT_EQ(states.Capacity(kOut, states.Number(Demand{})), 0);
}

// HAMi #1832, KAI #1847: what is charged of a device comes from its real size.
TEST(States, APartIsChargedForItsMemory) {
  States states;
  const StateId two = states.NumberOfEmpty(Machine(2), true);
  const DemandId quarter = states.Number({.gpus = 1, .gpu_memory = {10'000}});
  const States::Pick pick = states.PickFor(two, quarter);
  EXPECT_EQ(pick.share, 250);
  const StateId left = states.Take(two, quarter, pick);
  EXPECT_EQ(states.Of(left).gpus, (std::vector<std::int16_t>{750, 1000}));
  EXPECT_EQ(states.PickFor(left, quarter).gpus, std::vector{0}) << "the fullest that has room";
  EXPECT_EQ(states.Capacity(left, states.Number({.gpus = 1})), 1) << "the other one is whole";
}

TEST(States, WhatIsFreeInBoth) {
  States states;
  const StateId all = states.NumberOfEmpty(Machine(3), true);
  const DemandId one = states.Number({.gpus = 1, .cpu = {1000}});
  const StateId a = states.Take(all, one, {{0}, 0});
  const StateId b = states.Take(all, one, {{1}, 0});
  const StateId both = states.Both(a, b);
  EXPECT_EQ(states.Of(both).gpus, (std::vector<std::int16_t>{0, 0, 1000}));
  EXPECT_EQ(states.Of(both).cpu, 7000);
  EXPECT_EQ(states.Both(all, kOut), kOut);
}

// Random trials, each undone: the hash and all sets are as before; what is kept stays.
TEST(View, ATrialLeavesNoTrace) {
  States states;
  std::vector<StateId> some{kOut};
  for (int gpus = 0; gpus < 6; ++gpus) some.push_back(states.NumberOfEmpty(Machine(gpus), true));
  base::Random random(5);
  View view(states, 70);
  std::map<std::size_t, StateId> model;
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t hash = view.Hash();
    const std::size_t mark = view.Mark();
    std::map<std::size_t, StateId> tried = model;
    for (int i = 0; i < 10; ++i) {
      const std::size_t node = random.Below(70);
      const StateId state = some[random.Below(some.size())];
      view.Set(node, state);
      tried[node] = state;
    }
    if (random.OneIn(2)) {
      view.Keep(mark);
      model = tried;
    } else {
      view.Undo(mark);
      ASSERT_EQ(view.Hash(), hash);
    }
    std::int64_t whole = 0;
    for (std::size_t node = 0; node < 70; ++node) {
      ASSERT_EQ(view.At(node), model.contains(node) ? model[node] : kOut);
      ASSERT_TRUE(view.In(view.At(node)).Has(node));
      whole += states.Of(view.At(node)).WholeGpus();
    }
    ASSERT_EQ(view.whole_gpus(), whole);
    int counted = view.CountOf(kOut);
    for (const StateId state : view.live()) {
      ASSERT_EQ(view.CountOf(state), CountIn(view.In(state), nullptr));
      counted += view.CountOf(state);
    }
    ASSERT_EQ(counted, 70);
  }
}

TEST(Fleet, LabelsTermsAndTaints) {
  Node node = Machine(1);
  node.labels = {{"rack", "7"}, {"zone", "a"}};
  node.taints = {{"team", "vision"}};
  const Toleration vision{"team", "vision"};
  const struct {
    const char* says;
    Demand demand;
    bool welcome;
  } rows[] = {
      {"a taint keeps away", {}, false},
      {"tolerated", {.tolerations = {vision}}, true},
      {"another value is not", {.tolerations = {{"team", "speech"}}}, false},
      {"any value", {.tolerations = {{"team", "", true}}}, true},
      {"anything", {.tolerations = {{}}}, true},
      {"in", {.affinity = {{"rack", Term::Is::kIn, {"6", "7"}}}, .tolerations = {vision}}, true},
      {"not in", {.affinity = {{"rack", Term::Is::kNotIn, {"7"}}}, .tolerations = {vision}}, false},
      {"present", {.affinity = {{"zone", Term::Is::kPresent, {}}}, .tolerations = {vision}}, true},
      {"absent", {.affinity = {{"zone", Term::Is::kAbsent, {}}}, .tolerations = {vision}}, false},
  };
  for (const auto& row : rows) EXPECT_EQ(CarriesLabels(node, row.demand), row.welcome) << row.says;
}

// Two halves of one GPU, and nothing whole beside them; given back, it is whole again.
TEST(Fleet, PartsOfAGpuAddUpAndComeBack) {
  Fleet fleet;
  fleet.See(Machine(2));
  const auto part = [](int gpu, std::int64_t milli) { return Grant{"n", {gpu}, {}, {}, {milli}}; };
  fleet.Bind({1}, part(0, 400));
  fleet.Bind({2}, part(0, 600));
  EXPECT_EQ(fleet.Find("n")->FreeOf(0).value, 0);
  EXPECT_FALSE(fleet.Fits(part(0, 1)));
  EXPECT_FALSE(fleet.Fits({"n", {0}, {}, {}}));
  EXPECT_EQ(FitOn(*fleet.Find("n"), {.gpus = 1})->gpus, std::vector{1});
  fleet.Release({1}, part(0, 400));
  EXPECT_EQ(FitOn(*fleet.Find("n"), {.gpus = 1, .share = {300}})->gpus, std::vector{0});
  fleet.Release({2}, part(0, 600));
  EXPECT_TRUE(fleet.Find("n")->IsFree(0));
}

}  // namespace
}  // namespace pondage::fleet
