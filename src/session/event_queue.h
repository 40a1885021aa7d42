// A bounded queue between the threads that read streams and the one that prints.
//
// Any number of threads push, one pops. A full queue makes the readers wait, so that a slow
// terminal does not make this process grow.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace pondage::session {

template <class Event>
class EventQueue {
 public:
  explicit EventQueue(std::size_t most) : most_(most) {}

  // False when the stop came before there was room.
  bool Push(Event event, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!room_.wait(lock, stop, [&] { return events_.size() < most_; })) return false;
    events_.push_back(std::move(event));
    filled_.notify_one();
    return true;
  }

  std::optional<Event> Pop(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, limit, [&] { return !events_.empty(); });
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    room_.notify_one();
    return event;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable filled_;
  std::deque<Event> events_;
};

}  // namespace pondage::session
