// The watches of all clients: one tap on the store for each kind, shared out to many.
//
// Thread rule: the committing thread only appends a batch and posts one task; matching and
// buffering run where `post` runs things. Register and Remove from any thread. Invariants:
//   1. Events are shared, never copied for each watcher.
//   2. Every buffer is bounded: a sink whose events did not fit is closed, and its client watches
//      anew from what it has seen.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "port/store.h"

namespace pondage::api {

// One commit's events of a kind.
using EventBatch = std::shared_ptr<const std::vector<port::Event>>;

// Where the events of one watcher wait to be sent.
class Sink {
 public:
  struct Entry {
    EventBatch batch;
    std::size_t index = 0;
    const port::Event& event() const { return (*batch)[index]; }
  };
  using Wanted = std::function<bool(const port::Event&)>;

  Sink(Wanted wanted, std::size_t bound) : wanted_(std::move(wanted)), bound_(bound) {}

  void Take(const EventBatch& batch, port::Revision newest);
  void Overflow();
  void OnReady(std::function<void()> wake);

  std::vector<Entry> Drain(std::size_t at_most);
  bool overflowed() const;
  // Everything up to it was offered to this sink and taken from it; 0: not all was.
  port::Revision newest() const;

 private:
  const Wanted wanted_;
  const std::size_t bound_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  bool overflowed_ = false;
  port::Revision newest_ = 0;
  std::function<void()> wake_;
};

class Watchers {
 public:
  using Post = std::function<void(std::function<void()>)>;
  // At most `bound` events of a kind wait to be shared out.
  Watchers(port::Store& store, Post post, std::size_t bound = 100'000)
      : store_(store), post_(std::move(post)), bound_(bound) {}
  ~Watchers() { Close(); }

  // What is committed from now on reaches the sink. kUnavailable when closed.
  base::Result<void> Register(const std::string& kind, std::shared_ptr<Sink> sink);
  void Remove(const std::string& kind, const std::shared_ptr<Sink>& sink);
  // Takes the taps off; nothing is posted behind it.
  void Close();
  std::size_t count() const { return count_; }

 private:
  struct Tap {
    std::unique_ptr<port::Watch> watch;
    std::mutex pending_mutex;
    std::deque<std::pair<EventBatch, port::Revision>> pending;
    std::size_t pending_events = 0;
    bool overflowed = false;  // what was pending is gone
    bool posted = false;
    std::mutex sinks_mutex;
    std::set<std::shared_ptr<Sink>> sinks;
  };
  base::Result<std::shared_ptr<Tap>> TapOf(const std::string& kind);
  void OnCommit(const std::shared_ptr<Tap>& tap, const std::vector<port::Event>& events,
                port::Revision newest);
  static void ShareOut(const std::shared_ptr<Tap>& tap);

  port::Store& store_;
  const Post post_;
  const std::size_t bound_;
  std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<Tap>> taps_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace pondage::api
