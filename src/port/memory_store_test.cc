#include "port/memory_store.h"

#include <gtest/gtest.h>

#include "port/faulty_store.h"

namespace pondage::port {
namespace {

Change Put(std::string name, std::string body, std::string facets = "") {
  return {.key = {"pods", "ml", std::move(name)},
          .uid = "u",
          .body = std::move(body),
          .facets = std::move(facets)};
}

Change Delete(std::string name) {
  Change change = Put(std::move(name), "last");
  change.deleted = true;
  return change;
}

std::vector<std::string> Names(const Listing& listing) {
  std::vector<std::string> names;
  names.reserve(listing.objects.size());
  for (const Object& object : listing.objects) names.push_back(object.key.name);
  return names;
}

using testing::Test;
using Strings = std::vector<std::string>;

TEST(MemoryStore, ARevisionForEveryChange) {
  MemoryStore store;
  EXPECT_EQ(store.Commit({.changes = {Put("a", "1"), Put("b", "1")}}).value(), 1);
  EXPECT_EQ(store.Commit({.changes = {Put("a", "2")}}).value(), 3);
  EXPECT_EQ(store.Newest(), 3);
  const Object a = store.Get({"pods", "ml", "a"}).value();
  EXPECT_EQ(*a.body, "2");
  EXPECT_EQ(a.revision, 3);
  EXPECT_EQ(a.created, 1);
}

TEST(MemoryStore, ARefusedBatchWritesNothing) {
  MemoryStore store;
  const auto refused = store.Commit({.changes = {Put("a", "1"), Delete("b")}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::Kind::kInvalid);
  EXPECT_EQ(store.Newest(), 0);
  EXPECT_FALSE(store.Get({"pods", "ml", "a"}));
  EXPECT_TRUE(store.Commit({.changes = {Put("a", "1"), Delete("a"), Put("a", "2")}}));
}

TEST(MemoryStore, PagesShowOneRevision) {
  MemoryStore store;
  ASSERT_TRUE(store.Commit({.changes = {Put("a", "1"), Put("b", "1"), Put("c", "1")}}));
  const Listing first = store.List({.kind = "pods", .limit = 2, .count = true}).value();
  EXPECT_EQ(Names(first), (Strings{"a", "b"}));
  EXPECT_TRUE(first.more);
  EXPECT_EQ(first.remaining, 1u);
  ASSERT_TRUE(store.Commit({.changes = {Delete("c"), Put("d", "1")}}));
  ListQuery next{.kind = "pods", .after_space = "ml", .after_name = "b", .limit = 2};
  next.at = first.revision;
  EXPECT_EQ(Names(store.List(next).value()), (Strings{"c"}));
  store.CompactTo(store.Newest());
  EXPECT_EQ(store.List(next).error().kind, base::Kind::kExpired);
  EXPECT_EQ(Names(store.List({.kind = "pods"}).value()), (Strings{"a", "b", "d"}));
}

TEST(MemoryStore, AFacetIsAWholeLine) {
  MemoryStore store;
  ASSERT_TRUE(store.Commit({.changes = {Put("a", "", "l:x=1\no:7\n"), Put("b", "", "l:x=11\n")}}));
  EXPECT_EQ(Names(store.List({.kind = "pods", .facet = "l:x=1"}).value()), (Strings{"a"}));
  EXPECT_EQ(Names(store.List({.kind = "pods", .facet = "x=1"}).value()), (Strings{}));
  EXPECT_EQ(Names(store.List({.kind = "pods", .facet = "o:7"}).value()), (Strings{"a"}));
}

TEST(MemoryStore, AWatchSeesThePastThenTheFuture) {
  MemoryStore store;
  ASSERT_TRUE(store.Commit({.changes = {Put("a", "1", "l:v=1\n")}}));
  ASSERT_TRUE(store.Commit({.changes = {Put("a", "2", "l:v=2\n")}}));
  std::vector<Event> seen;
  Revision told = 0;
  auto watch = store.Follow("pods", 1, [&](const std::vector<Event>& events, Revision newest) {
    seen.insert(seen.end(), events.begin(), events.end());
    told = newest;
  });
  ASSERT_TRUE(watch);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].type, Event::Type::kModified);
  EXPECT_EQ(*seen[0].previous_facets, "l:v=1\n");
  ASSERT_TRUE(store.Commit({.changes = {Delete("a"), Put("a", "3")}}));
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1].type, Event::Type::kDeleted);
  EXPECT_EQ(*seen[1].object.body, "last");
  EXPECT_EQ(seen[2].type, Event::Type::kAdded);
  EXPECT_EQ(seen[2].object.created, 4);
  ASSERT_TRUE(store.Commit({.changes = {{.key = {"nodes", "", "n"}, .uid = "n"}}}));
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(told, 5);
  watch->reset();
  ASSERT_TRUE(store.Commit({.changes = {Put("b", "1")}}));
  EXPECT_EQ(told, 5);
}

TEST(MemoryStore, AWatchFromBeforeTheOldestOrBehindTheNewestIsExpired) {
  MemoryStore store;
  ASSERT_TRUE(store.Commit({.changes = {Put("a", "1"), Put("a", "2")}}));
  store.CompactTo(2);
  const auto ignore = [](const std::vector<Event>&, Revision) {};
  EXPECT_EQ(store.Follow("pods", 1, ignore).error().kind, base::Kind::kExpired);
  EXPECT_TRUE(store.Follow("pods", 2, ignore));
  EXPECT_EQ(store.Follow("pods", 3, ignore).error().kind, base::Kind::kExpired);
}

TEST(MemoryStore, LiveAndDue) {
  MemoryStore store;
  Change a = Put("a", "1");
  a.live = true;
  a.due = base::Instant{200};
  Change b = Put("b", "1");
  b.due = base::Instant{100};
  ASSERT_TRUE(store.Commit({.changes = {a, b}}));
  EXPECT_EQ(store.Live("pods")->size(), 1u);
  EXPECT_EQ(store.Due({0}, {99}, 9)->size(), 0u);
  const auto due = store.Due({0}, {200}, 9).value();
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].key.name, "b");
  EXPECT_EQ(due[0].due, base::Instant{100});
  EXPECT_EQ(store.Due({101}, {200}, 9)->size(), 1u);
  EXPECT_EQ(store.CountDue({0}, {200}).value(), 2u);
  EXPECT_EQ(store.CountDue({0}, {199}).value(), 1u);
  EXPECT_EQ(store.Due({0}, base::kNever, 1)->size(), 1u);
  ASSERT_TRUE(store.Commit({.changes = {Delete("a"), Put("b", "2")}}));
  EXPECT_TRUE(store.Due({0}, base::kNever, 9)->empty());
  EXPECT_TRUE(store.Live("pods")->empty());
}

TEST(MemoryStore, RecordsOfAStreamInOrder) {
  MemoryStore store;
  ASSERT_TRUE(store.Commit({.records = {{"ledger", "1"}, {"other", "x"}, {"ledger", "2"}}}));
  EXPECT_EQ(store.Records("ledger", 0, 9).value(), (Strings{"1", "2"}));
  EXPECT_EQ(store.Records("ledger", 1, 1).value(), (Strings{"2"}));
  EXPECT_EQ(store.Records("ledger", 2, 1).value(), (Strings{}));
}

TEST(FaultyStore, FailsBeforeOrAfterWriting) {
  MemoryStore inner;
  FaultyStore store(inner, base::Random(7), {.before = 3, .after = 3});
  int unwritten = 0;
  int untold = 0;
  for (int i = 0; i < 200; ++i) {
    const Revision before = inner.Newest();
    const auto first = store.Commit({.changes = {Put("a", "1")}});
    if (first) {
      EXPECT_EQ(inner.Newest(), before + 1);
    } else {
      EXPECT_EQ(first.error().kind, base::Kind::kUnavailable);
      (inner.Newest() == before ? unwritten : untold) += 1;
    }
  }
  EXPECT_GT(unwritten, 20);
  EXPECT_GT(untold, 20);
  EXPECT_EQ(store.faults(), unwritten + untold);
}

}  // namespace
}  // namespace pondage::port
