#include "queue/decay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "queue/tree.h"

namespace pondage::queue {
namespace {

using base::Instant;
using base::Millis;
using base::SecondsLong;
using base::WholeGpus;

constexpr std::int64_t kDay = 24 * 3600;

TEST(Decay, HalvesInAHalfLife) {
  const Decay decay(SecondsLong(7 * kDay));
  EXPECT_EQ(decay.Faded(1'000'000, SecondsLong(7 * kDay)), 500'000);
  EXPECT_EQ(decay.Faded(1'000'000, SecondsLong(14 * kDay)), 250'000);
  EXPECT_EQ(decay.Faded(1'000'000, Millis{0}), 1'000'000);
  EXPECT_EQ(decay.Faded(1'000'000, SecondsLong(7000 * kDay)), 0);
}

// Against the closed form in floating point, to one part in a thousand million.
TEST(Decay, IsTheClosedForm) {
  base::Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t half_life = random.Between(3600, 10 * 365 * kDay);
    const Decay decay(SecondsLong(half_life));
    const std::int64_t d = random.Between(1, 20 * half_life);
    const std::int64_t gpus = random.Between(1, 10'000);
    const double left = std::exp2(-static_cast<double>(d) / static_cast<double>(half_life));
    const double grown = static_cast<double>(gpus) * 1e6 * static_cast<double>(half_life) /
                         std::log(2.0) * (1 - left);
    const auto got = static_cast<double>(decay.Accrued(WholeGpus(gpus), SecondsLong(d)));
    ASSERT_NEAR(got / grown, 1.0, 1e-8);
    ASSERT_NEAR(static_cast<double>(decay.Faded(1'000'000'000'000, SecondsLong(d))), 1e12 * left,
                1e3);
  }
}

// Kueue #13761 (K9): a half-life of ten years, and one second still moves it.
TEST(Decay, OneGpuForOneSecondCounts) {
  Tree tree;
  tree.SetHalfLife(SecondsLong(3650 * kDay));
  for (const char* name : {"x", "y"}) tree.Put({.name = name});
  tree.Charge("x", "eva", WholeGpus(1), Instant{0});
  tree.Charge("y", "tom", WholeGpus(2), Instant{0});
  tree.Refund("x", "eva", WholeGpus(1), Instant{1000});
  tree.Refund("y", "tom", WholeGpus(2), Instant{1000});
  const auto faded = tree.Faded(Instant{1000});
  EXPECT_GT(faded.at("x"), 999'000);
  EXPECT_NEAR(static_cast<double>(faded.at("y")), 2.0 * static_cast<double>(faded.at("x")), 2.0);
  EXPECT_LT(faded.at("x"), faded.at("y"));
}

// The order of two that use nothing never changes with time.
TEST(Decay, TimeNeverTurnsTheOrder) {
  const Decay decay(SecondsLong(3600));
  base::Random random(8);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t a = random.Between(0, 1'000'000'000);
    const std::int64_t b = a + random.Between(0, 1000);
    const Millis d{random.Between(0, 100'000'000)};
    ASSERT_LE(decay.Faded(a, d), decay.Faded(b, d));
  }
}

TEST(Tree, UseFollowsAQueueThatHangsElsewhere) {
  Tree tree;
  tree.Put({.name = "lab"});
  tree.Put({.name = "nlp", .parent = "lab"});
  tree.Charge("nlp", "eva", WholeGpus(1), Instant{0});
  EXPECT_GT(tree.Faded(Instant{5000}).at("lab"), 0);
  tree.Put({.name = "other"});
  tree.Put({.name = "nlp", .parent = "other"});
  const auto faded = tree.Faded(Instant{5000});
  EXPECT_EQ(faded.at("lab"), 0);
  EXPECT_EQ(faded.at("other"), faded.at("nlp"));
  tree.Refund("nlp", "eva", WholeGpus(1), Instant{6000});
  EXPECT_EQ(tree.HeldBy("nlp", "eva").value, 0);
}

TEST(Tree, UseIsPutBackAfterARestart) {
  Tree tree;
  tree.Put({.name = "lab"});
  tree.Charge("lab", "eva", WholeGpus(3), Instant{0});
  Tree again;
  again.Put({.name = "lab"});
  again.Charge("lab", "eva", WholeGpus(3), Instant{500});  // what is held is told first
  for (const Tree::UseOf& use : tree.Uses()) again.Restore(use);
  EXPECT_EQ(again.Faded(Instant{9000}), tree.Faded(Instant{9000}));
  EXPECT_EQ(again.FadedOf("lab", "eva", Instant{9000}), tree.FadedOf("lab", "eva", Instant{9000}));
}

}  // namespace
}  // namespace pondage::queue
