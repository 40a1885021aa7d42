#include "submission/program.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pondage::submission {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, WhatItPrintsAndHowItEnds) {
  const auto done = RunProgram({"sh", "-c", "echo out; echo err >&2; exit 7"}, 1min);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->exit_code, 7);
  EXPECT_FALSE(done->timed_out);
  EXPECT_EQ(RunProgram({"sh", "-c", "kill -9 $$"}, 1min)->exit_code, 128 + 9);
  EXPECT_FALSE(RunProgram({"/no/such/program"}, 1min));
}

// Whatever it does with its output, it is over at the limit: each of these would run for ever.
TEST(RunProgram, TheLimitHoldsForEveryKindOfProgram) {
  for (const char* program :
       {"sleep 1000000", "exec >&-; sleep 1000000", "exec >&- 2>&- <&-; while :; do sleep 1; done",
        "while :; do echo more; done", "trap '' TERM; sleep 1000000"}) {
    const auto done = RunProgram({"sh", "-c", program}, 100ms);
    ASSERT_TRUE(done) << program;
    EXPECT_TRUE(done->timed_out) << program;
    EXPECT_EQ(done->exit_code, 128 + 9) << program;
  }
}

TEST(RunProgram, AClosedOutputIsNoEnd) {
  const auto done = RunProgram({"sh", "-c", "echo first; exec >&-; exit 3"}, 1min);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "first\n");
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_FALSE(done->timed_out);
}

}  // namespace
}  // namespace pondage::submission
