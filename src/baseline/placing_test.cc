#include "baseline/placing.h"

#include <gtest/gtest.h>

namespace pondage::baseline {
namespace {

TEST(Placing, BestFitTakesTheMachineWhereLeastIsLeft) {
  Placer placer({{.gpus = 8, .cpu_milli = 64'000}, {.gpus = 2, .cpu_milli = 64'000}},
                Placing::kBestFit);
  EXPECT_EQ(placer.Take({{.gpus = 1, .cpu_milli = 1'000}}).front().machine, 1);
  EXPECT_EQ(placer.Take({{.gpus = 2, .cpu_milli = 1'000}}).front().machine, 0);
  EXPECT_EQ(placer.held_milli_gpu(), 3'000);
}

TEST(Placing, PartsShareTheFullestGpuThatHoldsThem) {
  Placer placer({{.gpus = 2}}, Placing::kBestFit);
  EXPECT_EQ(placer.Take({{.part_milli = 300}}).front().gpus, std::vector<int>{0});
  EXPECT_EQ(placer.Take({{.part_milli = 800}}).front().gpus, std::vector<int>{1});
  EXPECT_EQ(placer.Take({{.part_milli = 200}}).front().gpus, std::vector<int>{1});
  EXPECT_TRUE(placer.Take({{.gpus = 1}}).empty());
  EXPECT_TRUE(placer.Take({{.part_milli = 701}}).empty());
}

TEST(Placing, FgdKeepsTogetherWhatIsTypicallyAskedTogether) {
  // Whole machines are asked for. A single GPU breaks the machine that is broken already.
  Placer placer({{.gpus = 4}, {.gpus = 4}}, Placing::kFgd,
                {{{.gpus = 4}, 0.8}, {{.gpus = 1}, 0.2}});
  const int first = placer.Take({{.gpus = 1}}).front().machine;
  EXPECT_EQ(placer.Take({{.gpus = 1}}).front().machine, first);
  EXPECT_NE(placer.Take({{.gpus = 4}}).front().machine, first);
}

TEST(Placing, AGangIsPlacedWholeOrNotAtAll) {
  Placer placer({{.gpus = 2, .type = 1}, {.gpus = 2, .type = 2}}, Placing::kBestFit);
  EXPECT_TRUE(placer.Take({{.count = 2, .gpus = 2, .types = {1}}}).empty());
  EXPECT_EQ(placer.held_milli_gpu(), 0);
  const auto seats = placer.Take({{.count = 2, .gpus = 2}});
  ASSERT_EQ(seats.size(), 2u);
  placer.Give(seats);
  EXPECT_EQ(placer.Take({{.gpus = 2, .types = {2}}}).front().machine, 1);
}

TEST(Placing, CoresAndMemoryAreWantedToo) {
  Placer placer({{.gpus = 4, .cpu_milli = 4'000, .memory = 10}}, Placing::kFgd);
  EXPECT_FALSE(placer.Take({{.gpus = 1, .cpu_milli = 3'000, .memory = 4}}).empty());
  EXPECT_TRUE(placer.Take({{.gpus = 1, .cpu_milli = 2'000}}).empty());
  EXPECT_TRUE(placer.Take({{.gpus = 1, .memory = 7}}).empty());
  EXPECT_FALSE(placer.Take({{.gpus = 3, .cpu_milli = 1'000, .memory = 6}}).empty());
}

TEST(Placing, TypicalIsWhatMakesUpMost) {
  std::vector<Member> members(96, {.gpus = 1});
  members.push_back({.count = 4, .part_milli = 500});
  const auto typical = TypicalOf(members);
  ASSERT_EQ(typical.size(), 1u);
  EXPECT_EQ(typical[0].member.gpus, 1);
  EXPECT_DOUBLE_EQ(typical[0].share, 0.96);
}

}  // namespace
}  // namespace pondage::baseline
