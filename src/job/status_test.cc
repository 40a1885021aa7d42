// How a condition is set.
#include "job/status.h"

#include <gtest/gtest.h>

#include "job/small_world.h"

namespace pondage::job {
namespace {

bool Set(Status& status, const char* type, std::int64_t at_s, bool is_true = true,
         const char* reason = "R", const char* message = "m") {
  return SetCondition(status, type, is_true, reason, message, {at_s * 1000});
}

TEST(Conditions, FollowTheTypicalList) {
  Status status;
  const std::pair<const char*, const char*> steps[] = {{"Created", "Created"},
                                                       {"Running", "Created Running"},
                                                       {"Restarting", "Created Restarting"},
                                                       {"Running", "Created Running"},
                                                       {"Failed", "Created Running=False Failed"}};
  for (const auto& [type, list] : steps) {
    EXPECT_TRUE(Set(status, type, 1));
    EXPECT_EQ(ConditionsOf(status), list);
  }
}

TEST(Conditions, NothingFollowsAFailure) {
  Status status;
  Set(status, "Failed", 1);
  EXPECT_FALSE(Set(status, "Succeeded", 2));
  EXPECT_FALSE(Set(status, "Running", 2));
  EXPECT_EQ(ConditionsOf(status), "Failed");
}

TEST(Conditions, TheSameReasonChangesNothing) {
  Status status;
  Set(status, "Running", 1);
  const Status before = status;
  EXPECT_FALSE(Set(status, "Running", 5, true, "R", "another message"));
  EXPECT_EQ(status, before);
}

TEST(Conditions, AnotherReasonKeepsTheTransitionTimeAndMovesToTheEnd) {
  Status status;
  Set(status, "Running", 1);
  Set(status, "Suspended", 2);
  EXPECT_TRUE(Set(status, "Running", 5, true, "Other"));
  EXPECT_EQ(ConditionsOf(status), "Suspended Running");
  EXPECT_EQ(status.conditions.back().updated, base::Instant{5'000});
  EXPECT_EQ(status.conditions.back().changed, base::Instant{1'000});
  EXPECT_TRUE(Set(status, "Running", 7, false, "Other"));
  EXPECT_EQ(status.conditions.back().changed, base::Instant{7'000});
}

TEST(Conditions, AnEndTurnsRunningFalseInPlace) {
  Status status;
  Set(status, "Created", 1);
  Set(status, "Running", 2, true, "TFJobRunning", "it runs");
  Set(status, "Suspended", 3, false);
  Set(status, "Succeeded", 4);
  EXPECT_EQ(ConditionsOf(status), "Created Running=False Suspended=False Succeeded");
  const Condition* running = FindCondition(status, "Running");
  ASSERT_NE(running, nullptr);
  EXPECT_EQ(running->reason, "TFJobRunning");
  EXPECT_EQ(running->message, "it runs");
  EXPECT_EQ(running->updated, base::Instant{2'000});
}

TEST(Conditions, SuspendedIsNoEnd) {
  Status status;
  Set(status, "Suspended", 1);
  EXPECT_FALSE(IsFinished(status));
  Set(status, "Succeeded", 1);
  EXPECT_TRUE(IsFinished(status));
}

}  // namespace
}  // namespace pondage::job
