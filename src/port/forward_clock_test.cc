#include "port/forward_clock.h"

#include <gtest/gtest.h>

namespace pondage::port {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kHour = 3'600 * kSecond;

class ForwardClockTest : public testing::Test {
 protected:
  // Lets so many seconds pass; gives how far the clock went, in ms.
  std::int64_t After(std::int64_t seconds) {
    const base::Instant before = clock_.Now();
    steady_ += seconds * kSecond;
    wall_ += seconds * kSecond;
    return (clock_.Now() - before).value;
  }

  std::int64_t wall_ = 1'767'225'600 * kSecond;
  std::int64_t steady_ = 77 * kSecond;
  ForwardClock clock_{[this] { return wall_; }, [this] { return steady_; }};
};

TEST_F(ForwardClockTest, IsTheWallsWhileNobodySetsThat) {
  EXPECT_EQ(After(0), 0);
  EXPECT_EQ(After(100'000), 100'000'000);
  EXPECT_EQ(clock_.Now().unix_ms, wall_ / 1000);
}

TEST_F(ForwardClockTest, SetBackItGoesOn) {
  wall_ -= kHour;
  EXPECT_EQ(After(0), 0);
  EXPECT_EQ(After(10), 10'000);
}

TEST_F(ForwardClockTest, SetOnItGainsATenthUntilItHasCaughtUp) {
  wall_ += kHour;
  EXPECT_EQ(After(0), 0);
  EXPECT_EQ(After(30), 33'000);
  EXPECT_EQ(After(40'000), 40'000'000 + 3'600'000 - 3'000);
  EXPECT_EQ(clock_.Now().unix_ms, wall_ / 1000);
  EXPECT_EQ(After(30), 30'000);
}

TEST_F(ForwardClockTest, AMachineThatDidNotKnowTheTimeLearnsItAtOnce) {
  wall_ += 20'000 * 24 * kHour;
  clock_.Now();
  EXPECT_EQ(clock_.Now().unix_ms, wall_ / 1000);
  EXPECT_EQ(After(30), 30'000);
}

TEST_F(ForwardClockTest, HowOftenItIsAskedDoesNotMatter) {
  wall_ += kHour;
  std::int64_t sum = 0;
  for (int i = 0; i < 60; ++i) sum += After(1);
  EXPECT_EQ(sum, 66'000);
}

}  // namespace
}  // namespace pondage::port
