#include "agent/discard.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/test_no_threads.h"
#include "base/test_directory.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

void MakeTree(const fs::path& tree) {
  fs::create_directories(tree / "deep");
  std::ofstream(tree / "deep/file") << "x";
}

bool Empties(const fs::path& folder) {
  for (int i = 0; i < 10'000 && !fs::is_empty(folder); ++i) usleep(1000);
  return fs::is_empty(folder);
}

TEST(Discard, WhatIsDiscardedIsFoundNoMoreAndGoes) {
  const base::TestDirectory place;
  const fs::path folder = place.path();
  for (int i = 0; i < 50; ++i) {
    const fs::path tree = folder / std::to_string(i);
    MakeTree(tree);
    DiscardTree(tree);
    EXPECT_FALSE(fs::exists(tree));
  }
  EXPECT_TRUE(Empties(folder));
}

// A step of its own for each thing that may be wrong: what fails is told by the status.
[[noreturn]] void DiscardWithoutThreads() {
  BecomeNobody();
  const base::TestDirectory place;
  const fs::path folder = place.path();
  for (const char* tree : {"a", "b", ".gone-before"}) MakeTree(folder / tree);
  if (!LetThreadsLack(true)) _exit(102);
  DiscardTree(folder / "a");
  FinishDiscards(folder);
  if (fs::exists(folder / "a") || !fs::exists(folder / ".gone-a/deep/file")) _exit(103);
  if (!LetThreadsLack(false)) _exit(104);
  DiscardTree(folder / "b");
  if (!Empties(folder)) _exit(105);
  fs::remove(folder);
  _exit(0);
}

TEST(Discard, WhereNoThreadCanBeHadItWaitsForTheNext) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(DiscardWithoutThreads(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pondage::agent
