#include "replay/size.h"

#include <gtest/gtest.h>

#include "replay/test_lab.h"

namespace pondage::replay {
namespace {

const OnRun kIgnore = [](const std::string&, std::size_t, std::size_t) {};

std::vector<Target> Targets(std::string_view text) {
  auto targets = TargetsOf(text);
  if (!targets) ADD_FAILURE() << targets.error().message;
  return targets.value_or(std::vector<Target>{});
}

constexpr std::string_view kSixAtOnce = R"(
fleet: [{servers: 1, gpus: 8}]
jobs: [{name: a, gpus: 8, lasts: 1h, times: 6}]
)";

TEST(Size, IsTheFewestThatDoesAndOneLessDoesNot) {
  struct Row {
    const char* target;
    std::int64_t machines;
  };
  // n machines run six jobs of an hour in rounds of n.
  for (const Row& row : {Row{"mean-wait=0s", 6}, Row{"mean-wait=29m", 4}, Row{"mean-wait=30m", 3},
                         Row{"p99-wait=2h", 2}, Row{"mean-jct=150m", 2}, Row{"p50-jct=9h", 1}}) {
    const auto sized = SizeFor(Lab(kSixAtOnce), Targets(row.target), {}, 1, kIgnore);
    ASSERT_TRUE(sized) << sized.error().message;
    EXPECT_EQ(sized->fewest.run.gpu, base::WholeGpus(8 * row.machines)) << row.target;
    ASSERT_EQ(sized->below.has_value(), row.machines > 1) << row.target;
    if (sized->below) {
      EXPECT_EQ(sized->below->run.gpu, base::WholeGpus(8 * (row.machines - 1))) << row.target;
    }
    for (const Trial& trial : sized->trials) {
      EXPECT_EQ(trial.met, trial.machines >= row.machines) << row.target << trial.machines;
    }
  }
}

TEST(Size, AllTargetsHold) {
  const auto sized = SizeFor(Lab(kSixAtOnce), Targets("mean-wait=2h,p99-jct=61m"), {}, 1, kIgnore);
  ASSERT_TRUE(sized);
  EXPECT_EQ(sized->fewest.run.gpu, base::WholeGpus(48));
  EXPECT_EQ(sized->trials.front().values.size(), 2u);
}

TEST(Size, WhatNoFleetGivesIsSaid) {
  const auto too_short = SizeFor(Lab(kSixAtOnce), Targets("mean-jct=59m"), {}, 1, kIgnore);
  ASSERT_FALSE(too_short);
  EXPECT_TRUE(too_short.error().message.contains("mean-jct is 3600 s"))
      << too_short.error().message;
  const auto limited = SizeFor(Lab(R"(
fleet: [{servers: 1, gpus: 8}]
queues: [{name: q, limit: 4}]
jobs: [{name: a, queue: q, gpus: 8, lasts: 1h}]
)"),
                               Targets("mean-wait=1h"), {}, 1, kIgnore);
  ASSERT_FALSE(limited);
  EXPECT_TRUE(limited.error().message.contains("1 jobs never end")) << limited.error().message;
}

TEST(Size, SeveralSeedsCountByTheirMean) {
  trace::Workload lab = Lab(kSixAtOnce);
  lab.faults.arrivals = base::SecondsLong(3'600);
  const auto sized = SizeFor(lab, Targets("mean-wait=10m"), {}, 4, kIgnore);
  ASSERT_TRUE(sized);
  EXPECT_EQ(sized->fewest.seeds.size(), 4u);
  EXPECT_LE(report::OverSeeds(sized->fewest.seeds, "wait_s.mean").mean, 600);
}

TEST(Size, TargetsAreFiguresAndLengths) {
  const std::vector<Target> targets = Targets("p90-wait=10m,mean-jct=1.5h");
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].figure, "wait_s.p90");
  EXPECT_DOUBLE_EQ(targets[0].most_s, 600);
  EXPECT_EQ(targets[1].name, "mean-jct");
  EXPECT_DOUBLE_EQ(targets[1].most_s, 5'400);
  for (const char* bad : {"", "p90-wait", "p90-wait=", "p80-wait=1m", "wait=1m", "mean-=1m",
                          "p90-wait=10", "p90-wait=1m,,", "-=1m"}) {
    EXPECT_FALSE(TargetsOf(bad)) << bad;
  }
}

TEST(Size, KindsKeepTheirProportions) {
  const std::vector<trace::Machines> fleet = {{.name = "a", .count = 6, .gpus = 8},
                                              {.name = "b", .count = 3, .gpus = 4}};
  const auto counts = [&](std::int64_t count) {
    std::string text;
    for (const trace::Machines& machines : Scaled(fleet, count)) {
      text += machines.name + std::to_string(machines.count);
    }
    return text;
  };
  EXPECT_EQ(counts(9), "a6b3");
  EXPECT_EQ(counts(3), "a2b1");
  EXPECT_EQ(counts(18), "a12b6");
  EXPECT_EQ(counts(1), "b1");
  EXPECT_EQ(counts(4), "a2b2");
}

}  // namespace
}  // namespace pondage::replay
