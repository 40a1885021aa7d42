// Shelf answers as the model store does, at the newest revision, whatever is done to both.

#include "replay/shelf.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "port/memory_store.h"

namespace pondage::replay {
namespace {

port::Batch RandomBatch(base::Random& random) {
  port::Batch batch;
  for (std::uint64_t i = 1 + random.Below(4); i > 0; --i) {
    port::Change change;
    change.key = {random.OneIn(2) ? "pods" : "events", random.OneIn(3) ? "" : "lab",
                  "n" + std::to_string(random.Below(6))};
    change.deleted = random.OneIn(3);
    change.body = "{\"metadata\":{}}" + std::to_string(random.Below(9));
    for (std::uint64_t owner = 0; owner < random.Below(3); ++owner) {
      change.facets += "o:" + std::to_string(random.Below(3)) + "\n";
    }
    if (random.OneIn(2)) change.facets = "l:a=b\n" + change.facets;
    change.live = random.OneIn(2);
    if (random.OneIn(2)) change.due = base::Instant{static_cast<std::int64_t>(random.Below(50))};
    batch.changes.push_back(std::move(change));
  }
  return batch;
}

std::string Told(const base::Result<port::Listing>& listing) {
  if (!listing) return listing.error().message;
  std::string text = std::to_string(listing->revision) + (listing->more ? "+" : "") +
                     std::to_string(listing->remaining);
  for (const port::Object& object : listing->objects) {
    text += "|" + object.key.space + "/" + object.key.name + "@" + std::to_string(object.revision) +
            "," + std::to_string(object.created) + *object.body + *object.facets;
  }
  return text;
}

TEST(Shelf, AnswersAsTheModelStoreDoes) {
  base::Random random(7);
  Shelf shelf;
  port::MemoryStore model;
  for (int step = 0; step < 3'000; ++step) {
    const port::Batch batch = RandomBatch(random);
    const auto mine = shelf.Commit(batch), its = model.Commit(batch);
    ASSERT_EQ(mine.has_value(), its.has_value());
    ASSERT_EQ(shelf.Newest(), model.Newest());
    const port::ListQuery queries[] = {
        {.kind = "pods"},
        {.kind = "pods", .space = "lab", .limit = 2, .count = true},
        {.kind = "events", .facet = "o:1"},
        {.kind = "pods", .after_name = "n2", .limit = 1, .facet = "o:2"},
        {.kind = "events", .facet = "l:a=b"}};
    for (const port::ListQuery& query : queries) {
      ASSERT_EQ(Told(shelf.List(query)), Told(model.List(query)));
    }
    const base::Instant until{static_cast<std::int64_t>(random.Below(60))};
    const base::Instant from{static_cast<std::int64_t>(random.Below(30))};
    const auto due = *shelf.Due(from, until, 1'000), model_due = *model.Due(from, until, 1'000);
    ASSERT_EQ(*shelf.CountDue(from, until), *model.CountDue(from, until));
    ASSERT_EQ(due.size(), model_due.size());
    for (std::size_t i = 0; i < due.size(); ++i) ASSERT_EQ(due[i].key, model_due[i].key);
    ASSERT_EQ(*shelf.Live("pods"), *model.Live("pods"));
  }
  EXPECT_EQ(shelf.List({.kind = "pods", .at = 1}).error().kind, base::Kind::kExpired);
}

}  // namespace
}  // namespace pondage::replay
