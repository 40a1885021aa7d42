#include "store/feed.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::store {

using port::Event;
using port::Revision;

class Feed::FeedWatch : public port::Watch {
 public:
  FeedWatch(Feed& feed, int number) : feed_(feed), number_(number) {}
  ~FeedWatch() override {
    const std::scoped_lock lock(feed_.mutex_);
    feed_.followers_.erase(number_);
  }

 private:
  Feed& feed_;
  int number_;
};

namespace {

std::size_t WeightOf(const Event& event) {
  return sizeof event + event.object.body->size() + event.object.facets->size();
}

}  // namespace

std::vector<Event> Feed::After(const std::string& kind, Revision from) const {
  auto first = std::ranges::upper_bound(ring_, from, {},
                                        [](const Event& event) { return event.object.revision; });
  std::vector<Event> events;
  for (; first != ring_.end(); ++first) {
    if (first->object.key.kind == kind) events.push_back(*first);
  }
  return events;
}

void Feed::Publish(std::vector<Event> events, Revision newest) {
  const std::scoped_lock lock(mutex_);
  PROMISE(newest == newest_ + static_cast<Revision>(events.size()));
  const Revision before = std::exchange(newest_, newest);
  for (Event& event : events) {
    ring_bytes_ += WeightOf(event);
    ring_.push_back(std::move(event));
  }
  Deliver(before);
  Shorten();
}

void Feed::Deliver(Revision before) {
  std::map<std::string, std::vector<Event>> by_kind;
  for (auto& [number, follower] : followers_) {
    if (follower.seen >= newest_) continue;
    if (follower.seen > before) {
      follower.on_events(After(follower.kind, follower.seen), newest_);
    } else {
      auto [events, fresh] = by_kind.try_emplace(follower.kind);
      if (fresh) events->second = After(follower.kind, before);
      follower.on_events(events->second, newest_);
    }
    follower.seen = newest_;
  }
}

void Feed::Shorten() {
  while (ring_.size() > bounds_.events || ring_bytes_ > bounds_.bytes) {
    begin_ = ring_.front().object.revision;
    ring_bytes_ -= WeightOf(ring_.front());
    ring_.pop_front();
  }
}

Revision Feed::Newest() const {
  const std::scoped_lock lock(mutex_);
  return newest_;
}

Revision Feed::Begin() const {
  const std::scoped_lock lock(mutex_);
  return begin_;
}

std::unique_ptr<port::Watch> Feed::Follow(const std::string& kind, Revision from,
                                          const port::Store::OnEvents& on_events) {
  const std::scoped_lock lock(mutex_);
  if (from < begin_) return nullptr;
  // A list can be newer than what is delivered: its commit is durable, but its events are still on
  // their way here. Then only what follows the list is delivered.
  const Revision seen = std::max(from, newest_);
  on_events(After(kind, from), seen);
  const int number = next_follower_++;
  followers_.emplace(number, Follower{kind, seen, on_events});
  return std::make_unique<FeedWatch>(*this, number);
}

}  // namespace pondage::store
