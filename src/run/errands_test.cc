#include "run/errands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace pondage::run {
namespace {

// Calls Look() as its owner does, until `done`.
void LookUntil(Errands& errands, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "what was awaited never came";
    errands.Look();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

struct Counts {
  std::atomic<int> running = 0, most = 0, done = 0;
  std::latch open{1};
};

Errands::Bounds Quick() {
  Errands::Bounds bounds;
  bounds.slow = std::chrono::milliseconds(1);
  bounds.farewell = std::chrono::milliseconds(1);
  return bounds;
}

Errands::Work Hang(const std::shared_ptr<Counts>& counts) {
  return [counts] {
    counts->most = std::max<int>(counts->most, ++counts->running);
    counts->open.wait();
    --counts->running;
    ++counts->done;
  };
}

TEST(Errands, WhatIsQuickNeedsOneThread) {
  Errands::Bounds bounds;
  bounds.slow = std::chrono::hours(1);
  Errands errands(bounds);
  const auto counts = std::make_shared<Counts>();
  counts->open.count_down();
  for (int i = 0; i < 1'000; ++i) errands.Run(Hang(counts));
  LookUntil(errands, [&] { return counts->done == 1'000; });
  EXPECT_EQ(counts->most, 1);
}

TEST(Errands, ThreadsGrowToTheBoundAndNoFurther) {
  Errands::Bounds bounds = Quick();
  bounds.at_once = 3;
  bounds.hung = std::chrono::hours(1);
  Errands errands(bounds);
  const auto counts = std::make_shared<Counts>();
  for (int i = 0; i < 10; ++i) errands.Run(Hang(counts));
  LookUntil(errands, [&] { return counts->running == 3; });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(errands.Look()) << "work still waits";
  }
  EXPECT_EQ(counts->most, 3);
  counts->open.count_down();
  LookUntil(errands, [&] { return counts->done == 10; });
}

TEST(Errands, WhatHangsForLongCountsOnlyForTheOuterBound) {
  Errands::Bounds bounds = Quick();
  bounds.at_once = 2;
  bounds.at_most = 7;
  bounds.hung = std::chrono::milliseconds(2);
  Errands errands(bounds);
  const auto counts = std::make_shared<Counts>();
  for (int i = 0; i < 10; ++i) errands.Run(Hang(counts));
  LookUntil(errands, [&] { return counts->running == 7; });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    errands.Look();
  }
  EXPECT_EQ(counts->most, 7);
  counts->open.count_down();
  LookUntil(errands, [&] { return counts->done == 10; });
}

TEST(Errands, EndsThoughWorkHangsAndDropsWhatWaits) {
  const auto counts = std::make_shared<Counts>();
  {
    Errands::Bounds bounds = Quick();
    bounds.at_once = 1;
    bounds.hung = std::chrono::hours(1);
    Errands errands(bounds);
    for (int i = 0; i < 3; ++i) errands.Run(Hang(counts));
    LookUntil(errands, [&] { return counts->running == 1; });
  }
  EXPECT_EQ(counts->running, 1);
  EXPECT_EQ(counts.use_count(), 2) << "what waited is gone";
  counts->open.count_down();
  while (counts.use_count() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(counts->done, 1);
}

TEST(Errands, WaitsForWhatGetsOn) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  const auto began = std::make_shared<std::latch>(1);
  {
    Errands::Bounds bounds;
    bounds.farewell = std::chrono::minutes(1);
    Errands errands(bounds);
    errands.Run([done, began] {
      began->count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *done = true;
    });
    began->wait();
  }
  EXPECT_TRUE(*done);
}

}  // namespace
}  // namespace pondage::run
