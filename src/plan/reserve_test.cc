// Starting out of turn: allowed exactly where the hard limits of what runs prove that nobody
// earlier waits longer for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/random.h"
#include "plan/plan.h"
#include "plan/small_world.h"

namespace pondage::plan {
namespace {

using base::Instant;
using base::SecondsLong;
using test::World;

constexpr Instant In(std::int64_t minutes) {
  return {minutes * 60'000};
}

// Four GPUs, two of them held until minute 30; a gang of four is first in line.
World HeadOfLine() {
  World world;
  world.Machine("n1", 4);
  world.Run(100, "n1", 2, "default", In(30));
  world.Gang(1, 1, 4).limit = SecondsLong(3600);
  return world;
}

TEST(Reserve, TheHeadKnowsItsLatestStart) {
  World world = HeadOfLine();
  world.Gang(2, 1, 4);
  EXPECT_EQ(world.Waiting(1).start_latest, In(30));
  EXPECT_EQ(world.Waiting(1).constraint, Constraint::kBusy);
  EXPECT_EQ(world.Waiting(1).until, In(30));
  EXPECT_EQ(world.Waiting(2).start_latest, In(90)) << "after the head's whole hour";
}

TEST(Reserve, AJobThatEndsInTimeStartsOutOfTurn) {
  World world = HeadOfLine();
  world.Gang(2, 1, 2).limit = SecondsLong(30 * 60);
  EXPECT_EQ(world.Started(), std::vector{2});
  EXPECT_EQ(world.Waiting(1).start_latest, In(30));
}

// Head reserved at +30 min, an ask with a limit of 60 min that would use its GPUs.
TEST(Reserve, AJobThatWouldEndTooLateSaysWhichLimitWouldDo) {
  World world = HeadOfLine();
  world.Gang(2, 1, 2).limit = SecondsLong(60 * 60);
  world.Gang(3, 1, 1);
  EXPECT_TRUE(world.Started().empty());
  for (const int job : {2, 3}) {
    const Refusal refusal = world.Waiting(job);
    EXPECT_EQ(refusal.constraint, Constraint::kReserved);
    EXPECT_EQ(refusal.until, In(30));
    EXPECT_EQ(refusal.help, "time=1800");
    EXPECT_EQ(refusal.ahead.front(), base::JobId{1});
  }
}

TEST(Reserve, AJobOnOtherGpusStartsWhateverItsLimit) {
  World world = HeadOfLine();
  world.Machine("n2", 2);
  world.Gang(2, 1, 2);
  EXPECT_EQ(world.Started(), std::vector{2});
}

TEST(Reserve, WithoutALimitNothingIsForeseenAndNobodyOvertakes) {
  World world;
  world.Machine("n1", 4);
  world.Run(100, "n1", 2);
  world.Gang(1, 1, 4);
  world.Gang(2, 1, 2).limit = SecondsLong(1);
  EXPECT_TRUE(world.Started().empty());
  EXPECT_FALSE(world.Waiting(1).start_latest);
  EXPECT_FALSE(world.Waiting(2).start_latest);
  EXPECT_EQ(world.Waiting(2).constraint, Constraint::kOrder);
}

TEST(Reserve, CoresAreKeptOnlyWhereTheyWouldBeMissing) {
  World world;
  world.Machine("n1", 2);  // 64 cores
  world.Run(100, "n1", 2, "default", In(10), {30'000});
  Ask& head = world.Gang(1, 1, 2);
  head.groups[0].demand.cpu = {60'000};
  head.limit = SecondsLong(3600);
  // At minute 10 there are 64 cores: 4 may be taken for ever, the other 30 until then.
  world.Gang(2, 1, 0).groups[0].demand.cpu = {5'000};
  world.Gang(3, 1, 0).groups[0].demand.cpu = {4'000};
  Ask& brief = world.Gang(4, 1, 0);
  brief.groups[0].demand.cpu = {20'000};
  brief.limit = SecondsLong(600);
  EXPECT_EQ(world.Started(), (std::vector{3, 4}));
  EXPECT_EQ(world.Waiting(2).constraint, Constraint::kReserved);
}

TEST(Reserve, AJobOverItsTimeIsExpectedToGoNext) {
  World world;
  world.Machine("n1", 2);
  world.Run(100, "n1", 2, "default", Instant{-5000});
  world.Gang(1, 1, 2);
  EXPECT_EQ(world.Waiting(1).start_latest, Instant{0});
}

// The promise, over random histories: however early others end and whatever arrives later, the
// latest start of the gang at the head of the line never moves back.
TEST(Reserve, TheHeadsLatestStartNeverMovesBack) {
  int promises = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    World world;
    const auto machines = random.Between(1, 3);
    for (std::int64_t i = 0; i < machines; ++i) {
      world.Machine("n" + std::to_string(i), static_cast<int>(random.Between(1, 4)));
    }
    Instant now{0};
    int next_job = 1;
    base::JobId head{0};
    Instant promised = base::kNever;
    for (int step = 0; step < 40; ++step) {
      for (std::uint64_t arrivals = random.Below(3); arrivals > 0; --arrivals) {
        Ask& ask = world.Gang(next_job++, static_cast<int>(random.Between(1, 3)),
                              static_cast<int>(random.Between(1, 3)));
        ask.limit = SecondsLong(random.Between(1, 100));
      }
      const Plan plan = world.Plan(now);
      world.CarryOut(plan, now);
      const auto first = std::ranges::find_if(
          plan.wait, [](const Refusal& refusal) { return refusal.start_latest.has_value(); });
      if (first != plan.wait.end()) {
        if (first->job == head) {
          ASSERT_LE(*first->start_latest, promised) << "seed " << seed << " step " << step;
          ++promises;
        }
        head = first->job;
        promised = *first->start_latest;
      }
      now = world.EndOne(random, now);
    }
  }
  EXPECT_GT(promises, 1000);
}

}  // namespace
}  // namespace pondage::plan
