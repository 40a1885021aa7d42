#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace pondage::base {
namespace {

// First numbers of splitmix64 from seed 1234567, as its authors publish them.
TEST(Random, IsSplitmix64OnEveryMachine) {
  Random random(1234567);
  for (const std::uint64_t want :
       {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
        4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(random.Next(), want);
  }
}

TEST(Random, StaysInsideItsBoundsAndReachesThem) {
  Random random(5);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(random.Below(7));
  for (const int count : seen) {
    EXPECT_GT(count, 800);
    EXPECT_LT(count, 1200);
  }
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t number = random.Between(-2, 2);
    ASSERT_GE(number, -2);
    ASSERT_LE(number, 2);
    low |= number == -2;
    high |= number == 2;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(random.Between(9, 9), 9);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(Random, TheWholeRangeIsAllowed) {
  Random random(1);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t number = random.Between(std::numeric_limits<std::int64_t>::min(),
                                               std::numeric_limits<std::int64_t>::max());
    negative |= number < 0;
    positive |= number > 0;
  }
  EXPECT_TRUE(negative && positive);
  Random again(1);
  EXPECT_LT(again.Below(~0ULL), ~0ULL);
}

TEST(Random, WaitsAreExponential) {
  Random random(9);
  constexpr int kDraws = 40'000;
  constexpr std::int64_t kMean = 1'000'000;
  double sum = 0;
  int above_one = 0, above_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t wait = random.Exponential(kMean);
    ASSERT_GE(wait, 0);
    sum += static_cast<double>(wait);
    above_one += wait > kMean ? 1 : 0;
    above_two += wait > 2 * kMean ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws / kMean, 1, 0.02);
  EXPECT_NEAR(static_cast<double>(above_one) / kDraws, 0.3679, 0.01);  // 1/e
  EXPECT_NEAR(static_cast<double>(above_two) / kDraws, 0.1353, 0.008);
  EXPECT_EQ(random.Exponential(0), 0);
}

TEST(RandomDeathTest, NothingIsBelowZero) {
  Random random(1);
  EXPECT_DEATH(random.Below(0), "required");
  EXPECT_DEATH(random.Between(1, 0), "required");
}

}  // namespace
}  // namespace pondage::base
