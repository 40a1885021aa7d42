#include "store/feed.h"

#include <gtest/gtest.h>

namespace pondage::store {
namespace {

using port::Event;
using port::Revision;
using Revisions = std::vector<Revision>;

Event EventAt(Revision revision, const char* kind = "pods", std::size_t size = 1) {
  port::Object object{.key = {kind, "ml", "p"},
                      .revision = revision,
                      .body = std::make_shared<const std::string>(size, 'x'),
                      .facets = std::make_shared<const std::string>()};
  return {Event::Type::kModified, std::move(object), nullptr};
}

class FeedTest : public testing::Test {
 protected:
  std::unique_ptr<port::Watch> Follow(Feed& feed, Revision from) {
    return feed.Follow("pods", from, [this](const std::vector<Event>& events, Revision newest) {
      for (const Event& event : events) seen_.push_back(event.object.revision);
      told_ = newest;
    });
  }
  Revisions seen_;
  Revision told_ = -1;
};

TEST_F(FeedTest, FromTheRingThenFromEachCommit) {
  Feed feed({}, 10);
  feed.Publish({EventAt(11), EventAt(12, "nodes"), EventAt(13)}, 13);
  const auto watch = Follow(feed, 11);
  EXPECT_EQ(seen_, Revisions{13});
  feed.Publish({EventAt(14)}, 14);
  EXPECT_EQ(seen_, (Revisions{13, 14}));
  feed.Publish({EventAt(15, "nodes")}, 15);
  EXPECT_EQ(seen_, (Revisions{13, 14}));
  EXPECT_EQ(told_, 15);
}

// A reader can see a commit before its events are told: it must not get them again.
TEST_F(FeedTest, AListAheadOfItsEventsGetsOnlyWhatFollowsIt) {
  Feed feed({}, 10);
  const auto watch = Follow(feed, 12);
  feed.Publish({EventAt(11), EventAt(12)}, 12);
  EXPECT_EQ(seen_, Revisions{});
  feed.Publish({EventAt(13)}, 13);
  EXPECT_EQ(seen_, Revisions{13});
  Feed other({}, 10);
  seen_.clear();
  const auto middle = Follow(other, 11);
  other.Publish({EventAt(11), EventAt(12)}, 12);
  EXPECT_EQ(seen_, Revisions{12});
}

TEST_F(FeedTest, KeepsNoMoreThanItsBounds) {
  Feed by_count({.events = 2, .bytes = 1 << 20}, 0);
  by_count.Publish({EventAt(1), EventAt(2), EventAt(3)}, 3);
  EXPECT_EQ(by_count.Begin(), 1);
  EXPECT_EQ(Follow(by_count, 0), nullptr);
  EXPECT_NE(Follow(by_count, 1), nullptr);
  EXPECT_EQ(seen_, (Revisions{2, 3}));
  Feed by_size({.events = 100, .bytes = 5000}, 0);
  by_size.Publish({EventAt(1, "pods", 3000), EventAt(2, "pods", 3000)}, 2);
  EXPECT_EQ(by_size.Begin(), 1);
}

TEST_F(FeedTest, AWatchEndsWhenItIsDestroyed) {
  Feed feed({}, 0);
  auto watch = Follow(feed, 0);
  watch.reset();
  feed.Publish({EventAt(1)}, 1);
  EXPECT_EQ(seen_, Revisions{});
}

}  // namespace
}  // namespace pondage::store
