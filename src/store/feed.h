// The recent events, once in memory for all who follow, and those who follow.
//
// Thread rule: any; one mutex, never held over IO. Publish() by the writer only, in order.
// Invariant: the ring holds every event after Begin(), and nothing else.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "port/store.h"

namespace pondage::store {

class Feed {
 public:
  struct Bounds {
    std::size_t events = 4096;
    std::size_t bytes = 4 << 20;
  };

  // `newest`: the store's revision at the start.
  Feed(Bounds bounds, port::Revision newest) : bounds_(bounds), begin_(newest), newest_(newest) {}

  // The events of one commit, one for each revision up to `newest`.
  void Publish(std::vector<port::Event> events, port::Revision newest);

  // Newest revision whose events were delivered.
  port::Revision Newest() const;
  // Revisions after this one are in the ring.
  port::Revision Begin() const;

  // Calls back with what the ring has after `from`, then with every commit. Null when the ring does
  // not reach back to `from`: read older events from the log first, and try again from there.
  std::unique_ptr<port::Watch> Follow(const std::string& kind, port::Revision from,
                                      const port::Store::OnEvents& on_events);

 private:
  class FeedWatch;
  struct Follower {
    std::string kind;
    port::Revision seen;  // a follower may start behind what is delivered: see Follow()
    port::Store::OnEvents on_events;
  };

  std::vector<port::Event> After(const std::string& kind, port::Revision from) const;
  void Deliver(port::Revision before);
  void Shorten();

  const Bounds bounds_;
  mutable std::mutex mutex_;
  std::deque<port::Event> ring_;
  std::size_t ring_bytes_ = 0;
  port::Revision begin_;
  port::Revision newest_;
  std::map<int, Follower> followers_;
  int next_follower_ = 0;
};

}  // namespace pondage::store
