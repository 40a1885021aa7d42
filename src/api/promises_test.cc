// Which guarantees cannot be kept together.
#include "api/promises.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "manifest/queue.h"
#include "port/memory_store.h"

namespace pondage::api {
namespace {

struct PromisesTest : ::testing::Test {
  void Put(const std::string& kind, const std::string& name, std::string body) {
    port::Change change;
    change.key = {kind, "", name};
    change.uid = name;
    change.body = std::move(body);
    ASSERT_TRUE(store.Commit({.changes = {change}}));
  }
  void Machine(const std::string& name, int gpus) {
    fleet::Node node{.name = name};
    for (int i = 0; i < gpus; ++i) node.gpus.push_back({.id = name + std::to_string(i)});
    Put("nodes", name, boost::json::serialize(manifest::MakeNode(node, {}, {})));
  }
  void Queue(const std::string& name, int guarantee, const std::string& parent = "") {
    Put("queues.pondage.dev", name,
        fmt::format(
            R"({{"apiVersion":"pondage.dev/v1alpha1","kind":"Queue","metadata":{{"name":"{}"}},)"
            R"("spec":{{"parent":"{}","guarantee":{{"nvidia.com/gpu":{}}}}}}})",
            name, parent, guarantee));
  }
  port::MemoryStore store;
};

TEST_F(PromisesTest, AreCountedSideBySide) {
  Queue("a", 6);
  EXPECT_TRUE(BrokenPromises(store).empty()) << "before the first machine is seen";
  Machine("m1", 4);
  Machine("m2", 4);
  Queue("b", 2);
  Queue("a1", 4, "a");
  Queue("a2", 2, "a");
  EXPECT_TRUE(BrokenPromises(store).empty());

  Queue("c", 1);
  const auto top = BrokenPromises(store);
  ASSERT_EQ(top.size(), 1u);
  EXPECT_EQ(top[0], "9 GPUs are guaranteed in all, the machines have 8 (PND-Q030)");

  Queue("a3", 1, "a");
  const auto both = BrokenPromises(store);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1], "7 GPUs are guaranteed below queue a, which is guaranteed 6 (PND-Q030)");
}

TEST_F(PromisesTest, OfAChangeOnlyItsOwnAreTold) {
  Machine("m1", 4);
  Queue("a", 4);
  Queue("a1", 5, "a");
  const auto told = [&](queue::Spec spec) { return BrokenPromises(store, spec).size(); };
  EXPECT_EQ(told({.name = "b"}), 0u);
  EXPECT_EQ(told({.name = "b", .guarantee = base::WholeGpus(1)}), 1u);
  EXPECT_EQ(told({.name = "a1", .parent = "a", .guarantee = base::WholeGpus(4)}), 0u);
  EXPECT_EQ(told({.name = "a", .guarantee = base::WholeGpus(3)}), 1u) << "of those below it";
}

}  // namespace
}  // namespace pondage::api
