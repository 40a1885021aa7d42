#include "cmd/lane.h"

#include <gtest/gtest.h>

#include "agent/test_no_threads.h"

namespace pondage::cmd {
namespace {

// A step of its own for each thing that may be wrong: what fails is told by the status.
[[noreturn]] void PostWithoutThreads() {
  agent::BecomeNobody();
  if (!agent::LetThreadsLack(true)) _exit(102);
  bool called = false;
  {
    Lane lane(1);
    const auto posted = lane.Post([&](bool) { called = true; });
    if (posted || posted.error().id != "PND-A032") _exit(103);
    if (!agent::LetThreadsLack(false)) _exit(104);
    bool done = false;
    if (!lane.Post([&](bool) { done = true; })) _exit(105);
    lane.End();
    if (!done) _exit(106);
  }
  _exit(called ? 107 : 0);
}

TEST(Lane, WhereNoThreadCanBeHadItRefusesAndGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(PostWithoutThreads(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pondage::cmd
