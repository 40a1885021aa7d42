// A list in pages: whole, of one revision, and counted once at most.
#include "api/pager.h"

#include <gtest/gtest.h>

#include "port/memory_store.h"

namespace pondage::api {
namespace {

class NotedStore : public port::MemoryStore {
 public:
  base::Result<port::Listing> List(const port::ListQuery& query) const override {
    ++pages;
    counts += query.count ? 1 : 0;
    return MemoryStore::List(query);
  }
  mutable int pages = 0, counts = 0;
};

TEST(Pager, CountsOnceHoweverManyPages) {
  constexpr std::size_t kAll = 3'000;
  NotedStore store;
  port::Batch batch;
  for (std::size_t i = 0; i < kAll; ++i) {
    port::Change change;
    change.key = {"pods", "ml", "p" + std::to_string(10'000 + i)};
    change.uid = change.key.name;
    change.body = "{}";
    batch.changes.push_back(std::move(change));
  }
  ASSERT_TRUE(store.Commit(batch));
  for (const bool counts : {true, false}) {
    store.pages = store.counts = 0;
    Pager pager(store, {.kind = "pods", .count = counts}, {});
    ASSERT_TRUE(pager.Begin());
    std::size_t seen = 0;
    for (auto object = pager.Next(); object && *object; object = pager.Next()) {
      ++seen;
      ASSERT_EQ(pager.Remaining(), counts ? kAll - seen : pager.Remaining());
    }
    EXPECT_EQ(seen, kAll);
    EXPECT_GT(store.pages, 5);
    EXPECT_EQ(store.counts, counts ? 1 : 0);
  }
}

}  // namespace
}  // namespace pondage::api
