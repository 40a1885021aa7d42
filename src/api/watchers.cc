#include "api/watchers.h"

namespace pondage::api {

using base::Fail;
using base::Kind;

void Sink::Take(const EventBatch& batch, port::Revision newest) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    newest_ = newest;
    const std::size_t before = entries_.size();
    for (std::size_t i = 0; i < batch->size() && !overflowed_; ++i) {
      if (!wanted_((*batch)[i])) continue;
      if (entries_.size() == bound_) {
        overflowed_ = true;
        entries_.clear();
        break;
      }
      entries_.push_back({batch, i});
    }
    if (entries_.size() != before || overflowed_) wake = wake_;
  }
  if (wake) wake();
}

void Sink::Overflow() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    overflowed_ = true;
    entries_.clear();
    wake = wake_;
  }
  if (wake) wake();
}

void Sink::OnReady(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

std::vector<Sink::Entry> Sink::Drain(std::size_t at_most) {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  while (!entries_.empty() && entries.size() < at_most) {
    entries.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
  return entries;
}

bool Sink::overflowed() const {
  const std::lock_guard lock(mutex_);
  return overflowed_;
}

port::Revision Sink::newest() const {
  const std::lock_guard lock(mutex_);
  return entries_.empty() && !overflowed_ ? newest_ : 0;
}

base::Result<std::shared_ptr<Watchers::Tap>> Watchers::TapOf(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  if (closed_) return Fail(Kind::kUnavailable, "PND-A029", kind, "the server is stopping");
  if (const auto found = taps_.find(kind); found != taps_.end()) return found->second;
  auto tap = std::make_shared<Tap>();
  const std::weak_ptr<Tap> weak = tap;
  TRY(tap->watch,
      store_.Follow(kind, store_.Newest(),
                    [this, weak](const std::vector<port::Event>& events, port::Revision newest) {
                      if (const auto to = weak.lock()) OnCommit(to, events, newest);
                    }));
  taps_.emplace(kind, tap);
  return tap;
}

base::Result<void> Watchers::Register(const std::string& kind, std::shared_ptr<Sink> sink) {
  TRY(const auto tap, TapOf(kind));
  const std::lock_guard lock(tap->sinks_mutex);
  tap->sinks.insert(std::move(sink));
  ++count_;
  return {};
}

void Watchers::Remove(const std::string& kind, const std::shared_ptr<Sink>& sink) {
  std::shared_ptr<Tap> tap;
  {
    const std::lock_guard lock(mutex_);
    const auto found = taps_.find(kind);
    if (found == taps_.end()) return;
    tap = found->second;
  }
  const std::lock_guard lock(tap->sinks_mutex);
  count_ -= tap->sinks.erase(sink);
}

void Watchers::Close() {
  std::map<std::string, std::shared_ptr<Tap>> taps;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    taps.swap(taps_);
  }
  // Ends each tap without a lock: it waits for a call of OnCommit that is under way.
  for (auto& [kind, tap] : taps) tap->watch.reset();
}

void Watchers::OnCommit(const std::shared_ptr<Tap>& tap, const std::vector<port::Event>& events,
                        port::Revision newest) {
  auto batch = std::make_shared<const std::vector<port::Event>>(events);
  {
    const std::lock_guard lock(tap->pending_mutex);
    // A commit without events of the kind is a batch, too: it only moves the revision on.
    const bool only_moves = batch->empty() && !tap->pending.empty();
    if (only_moves) {
      tap->pending.back().second = newest;
    } else {
      tap->pending_events += batch->size();
      tap->pending.emplace_back(std::move(batch), newest);
    }
    if (tap->pending_events > bound_) {
      tap->overflowed = true;
      tap->pending_events = 0;
      tap->pending.clear();
    }
    if (tap->posted) return;
    tap->posted = true;
  }
  post_([tap] { ShareOut(tap); });
}

// One at a time for each tap: `posted` stays set until nothing is pending.
void Watchers::ShareOut(const std::shared_ptr<Tap>& tap) {
  for (;;) {
    decltype(tap->pending) pending;
    bool overflowed = false;
    {
      const std::lock_guard lock(tap->pending_mutex);
      if (tap->pending.empty() && !tap->overflowed) {
        tap->posted = false;
        return;
      }
      pending.swap(tap->pending);
      tap->pending_events = 0;
      overflowed = std::exchange(tap->overflowed, false);
    }
    const std::lock_guard lock(tap->sinks_mutex);
    if (overflowed) {
      for (const auto& sink : tap->sinks) sink->Overflow();
    }
    for (const auto& [batch, newest] : pending) {
      for (const auto& sink : tap->sinks) sink->Take(batch, newest);
    }
  }
}

}  // namespace pondage::api
