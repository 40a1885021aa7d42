#include "queue/tree.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace pondage::queue {
namespace {

using base::WholeGpus;

Spec Queue(std::string name, std::string parent = "", std::optional<int> limit = {},
           int guarantee = 0) {
  Spec spec{
      .name = std::move(name), .parent = std::move(parent), .guarantee = WholeGpus(guarantee)};
  if (limit) spec.limit = WholeGpus(*limit);
  return spec;
}

TEST(Tree, UseCountsAtEveryLevel) {
  Tree tree;
  tree.Put(Queue("lab", "", 10, 4));
  tree.Put(Queue("nlp", "lab", 20));
  tree.Put(Queue("cv", "lab"));
  tree.Charge("nlp", WholeGpus(3));
  tree.Charge("cv", WholeGpus(5));
  EXPECT_EQ(tree.Used("lab"), WholeGpus(8));
  EXPECT_EQ(tree.Used("nlp"), WholeGpus(3));
  EXPECT_EQ(tree.Borrowed("lab"), WholeGpus(4));
  tree.Refund("cv", WholeGpus(5));
  EXPECT_EQ(tree.Used("lab"), WholeGpus(3));
  EXPECT_EQ(tree.Borrowed("lab"), WholeGpus(0));
}

// Volcano #3932 and #1860: a parent binds its children, and the last GPU of a limit is usable.
TEST(Tree, TheFirstFullLevelIsNamed) {
  Tree tree;
  tree.Put(Queue("lab", "", 10));
  tree.Put(Queue("nlp", "lab", 20));
  tree.Charge("nlp", WholeGpus(8));
  EXPECT_FALSE(tree.WouldExceed("nlp", WholeGpus(2)));
  const auto over = tree.WouldExceed("nlp", WholeGpus(4));
  ASSERT_TRUE(over);
  EXPECT_EQ(over->queue, "lab");
  EXPECT_EQ(over->used, WholeGpus(8));
  EXPECT_EQ(over->limit, WholeGpus(10));
  EXPECT_EQ(over->ask, WholeGpus(4));
  EXPECT_FALSE(tree.NeverFits("nlp", WholeGpus(10)));
  EXPECT_EQ(tree.NeverFits("nlp", WholeGpus(11))->queue, "lab");
  EXPECT_EQ(tree.NeverFits("nlp", WholeGpus(21))->queue, "nlp");
}

TEST(Tree, ALimitLoweredBelowUseHoldsBackOnlyWhoAsksForMore) {
  Tree tree;
  tree.Put(Queue("q", "", 8));
  tree.Charge("q", WholeGpus(8));
  tree.Put(Queue("q", "", 4));
  EXPECT_EQ(tree.Used("q"), WholeGpus(8));
  EXPECT_TRUE(tree.WouldExceed("q", {1}));
  EXPECT_FALSE(tree.WouldExceed("q", {0}));
}

TEST(Tree, UnknownParentsAndCyclesHangFromTheRoot) {
  Tree tree;
  tree.Put(Queue("a", "b"));
  tree.Put(Queue("b", "c"));
  tree.Put(Queue("c", "a"));
  tree.Put(Queue("leaf", "c"));
  tree.Put(Queue("self", "self"));
  tree.Put(Queue("lost", "nowhere"));
  using Path = std::vector<std::string_view>;
  EXPECT_EQ(tree.PathUp("leaf"), (Path{"leaf", "c", "a"})) << "cut at a, the first of a, b, c";
  EXPECT_EQ(tree.PathUp("b"), (Path{"b", "c", "a"}));
  EXPECT_EQ(tree.PathUp("self"), Path{"self"});
  EXPECT_EQ(tree.PathUp("lost"), Path{"lost"});
  tree.Charge("b", WholeGpus(2));
  EXPECT_EQ(tree.Used("a"), WholeGpus(2));
  tree.Put(Queue("a"));
  EXPECT_EQ(tree.Used("a"), WholeGpus(2));
}

// Kueue #5937: the sums above a deleted queue count its jobs until they end.
TEST(Tree, AJobWithoutGpusOutlivesItsRemovedQueue) {
  Tree tree;
  tree.Put({.name = "q"});
  tree.Charge("q", {0});
  tree.Charge("q", "ann", {0}, base::Instant{0});
  tree.Remove("q");
  tree.Refund("q", "ann", {0}, base::Instant{1});
  tree.Refund("q", {0});
  EXPECT_EQ(tree.Used("q"), base::MilliGpu{});
}

TEST(Tree, ARemovedQueueStaysWhileItsJobsRun) {
  Tree tree;
  tree.Put(Queue("p", "", 20));
  tree.Put(Queue("q1", "p"));
  tree.Put(Queue("q2", "p"));
  tree.Charge("q1", WholeGpus(8));
  tree.Charge("q2", WholeGpus(8));
  tree.Remove("q1");
  EXPECT_EQ(tree.Find("q1"), nullptr);
  EXPECT_EQ(tree.All().size(), 2u);
  EXPECT_TRUE(tree.WouldExceed("q2", WholeGpus(8)));
  tree.Refund("q1", WholeGpus(8));
  EXPECT_FALSE(tree.WouldExceed("q2", WholeGpus(8)));
  EXPECT_EQ(tree.Used("p"), WholeGpus(8));
}

TEST(Tree, ChargesToAQueueThatIsUnknownAreKept) {
  Tree tree;
  tree.Charge("gone", WholeGpus(2));
  EXPECT_EQ(tree.Find("gone"), nullptr);
  tree.Put(Queue("gone", "", 3));
  EXPECT_EQ(tree.Used("gone"), WholeGpus(2));
  EXPECT_TRUE(tree.WouldExceed("gone", WholeGpus(2)));
}

TEST(Tree, TheShortestRunTimeAndTheFirstHeldLevelOnTheWayUp) {
  Tree tree;
  Spec lab = Queue("lab");
  lab.max_run = base::SecondsLong(3600);
  lab.held = true;
  tree.Put(lab);
  Spec nlp = Queue("nlp", "lab");
  nlp.max_run = base::SecondsLong(7200);
  tree.Put(nlp);
  EXPECT_EQ(tree.MaxRun("nlp"), base::SecondsLong(3600));
  EXPECT_EQ(tree.HeldAt("nlp"), "lab");
  EXPECT_FALSE(tree.MaxRun("nowhere"));
  EXPECT_FALSE(tree.HeldAt("nowhere"));
}

TEST(Tree, ACopyHasALifeOfItsOwn) {
  Tree tree;
  tree.Put(Queue("lab", "", 4));
  tree.Put(Queue("nlp", "lab"));
  Tree copy = tree;
  copy.Charge("nlp", WholeGpus(4));
  EXPECT_EQ(copy.Used("lab"), WholeGpus(4));
  EXPECT_EQ(tree.Used("lab"), WholeGpus(0));
}

TEST(TreeDeathTest, NothingIsRefundedThatWasNotCharged) {
  Tree tree;
  tree.Put(Queue("q"));
  tree.Charge("q", WholeGpus(1));
  EXPECT_DEATH(tree.Refund("q", WholeGpus(2)), "required");
  EXPECT_DEATH(tree.Refund("nowhere", WholeGpus(1)), "required");
}

// L11: sums equal a recount after every change, over random trees, cycles included.
TEST(Tree, SumsEqualARecountAfterEveryChange) {
  base::Random random(7);
  Tree tree;
  std::map<std::string, std::int64_t> own;
  const auto name = [&](std::uint64_t i) { return std::string(1, static_cast<char>('a' + i)); };
  for (int step = 0; step < 4000; ++step) {
    const std::string q = name(random.Below(6));
    switch (random.Below(4)) {
      case 0:
        tree.Put(Queue(q, name(random.Below(8))));
        break;
      case 1:
        tree.Remove(q);
        break;
      case 2: {
        const auto amount = static_cast<std::int64_t>(random.Below(5));
        tree.Charge(q, {amount});
        own[q] += amount;
        break;
      }
      default: {
        const std::int64_t amount = own[q] == 0 ? 0 : random.Between(1, own[q]);
        if (amount == 0) break;
        tree.Refund(q, {amount});
        own[q] -= amount;
      }
    }
    std::map<std::string, std::int64_t> used;
    for (const auto& [leaf, amount] : own) {
      for (const std::string_view level : tree.PathUp(leaf)) used[std::string(level)] += amount;
    }
    for (const auto& [leaf, amount] : own) {
      ASSERT_TRUE(amount == 0 || !tree.PathUp(leaf).empty()) << leaf << " step " << step;
      ASSERT_EQ(tree.Used(leaf).value, used[leaf]) << leaf << " step " << step;
    }
  }
}

}  // namespace
}  // namespace pondage::queue
