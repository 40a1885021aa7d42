// Watchers whose events wait: how many may, and what becomes of those who wait for more.
#include "api/watchers.h"

#include <gtest/gtest.h>

#include "port/memory_store.h"

namespace pondage::api {
namespace {

struct WatchersTest : ::testing::Test {
  // `count` changes of one kind in one commit.
  void Commit(const std::string& kind, int count) {
    port::Batch batch;
    for (int i = 0; i < count; ++i) {
      port::Change change;
      change.key = {kind, "ml", "a" + std::to_string(i)};
      change.uid = change.key.name;
      change.body = "{}";
      batch.changes.push_back(std::move(change));
    }
    ASSERT_TRUE(store.Commit(batch));
  }
  void RunTasks() {
    for (auto& task : std::exchange(tasks, {})) task();
  }
  std::shared_ptr<Sink> Watch(std::size_t bound) {
    auto sink = std::make_shared<Sink>([](const port::Event&) { return true; }, bound);
    EXPECT_TRUE(watchers.Register("pods", sink));
    return sink;
  }

  port::MemoryStore store;
  std::vector<std::function<void()>> tasks;
  Watchers watchers{store, [this](std::function<void()> task) { tasks.push_back(std::move(task)); },
                    /*bound=*/100};
};

TEST_F(WatchersTest, AReaderThatNeverReadsIsClosedAndTheOthersGoOn) {
  const auto idle = Watch(10);
  const auto reads = Watch(10);
  for (int i = 0; i < 5; ++i) {
    Commit("pods", 3);
    RunTasks();
    EXPECT_EQ(reads->Drain(100).size(), 3u);
  }
  EXPECT_TRUE(idle->overflowed());
  EXPECT_TRUE(idle->Drain(100).empty()) << "nothing is kept for it";
  EXPECT_EQ(idle->newest(), 0) << "a bookmark would stand behind what it has never seen";
  EXPECT_EQ(reads->newest(), store.Newest());
  EXPECT_FALSE(reads->overflowed());
}

TEST_F(WatchersTest, WhatCannotBeSharedOutIsBounded) {
  const auto sink = Watch(10'000);
  for (int i = 0; i < 100; ++i) Commit("pods", 3);  // nobody runs the tasks
  EXPECT_EQ(tasks.size(), 1u);
  bool woken = false;
  sink->OnReady([&woken] { woken = true; });
  RunTasks();
  EXPECT_TRUE(sink->overflowed()) << "it missed events, and may not seem to have seen them";
  EXPECT_TRUE(woken);
  EXPECT_EQ(sink->newest(), 0);
  Commit("events", 1);
  RunTasks();
  EXPECT_EQ(sink->newest(), 0) << "what moves on behind the gap does not close it";
  const auto later = Watch(10'000);
  Commit("pods", 3);
  RunTasks();
  EXPECT_EQ(later->Drain(100).size(), 3u) << "who watches anew sees what comes";
  EXPECT_FALSE(later->overflowed());
}

TEST_F(WatchersTest, CommitsOfOtherKindsOnlyMoveTheRevision) {
  const auto sink = Watch(10);
  for (int i = 0; i < 1'000; ++i) Commit("events", 1);
  RunTasks();
  EXPECT_FALSE(sink->overflowed());
  EXPECT_EQ(sink->newest(), store.Newest());
}

}  // namespace
}  // namespace pondage::api
