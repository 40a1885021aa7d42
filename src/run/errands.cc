#include "run/errands.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace pondage::run {

using SteadyClock = std::chrono::steady_clock;

struct Errands::Shared {
  explicit Shared(Bounds given) : bounds(given) {}

  // Whether a thread more would help, and may be; the lock is held.
  bool NeedsThread() const {
    if (waiting.size() <= idle || ending) return false;
    if (threads == 0) return true;
    const auto now = SteadyClock::now();
    const auto older = [&](std::chrono::milliseconds age) {
      return static_cast<std::size_t>(
          std::ranges::count_if(began, [&](const auto& since) { return now - since >= age; }));
    };
    return older(bounds.slow) == threads && threads < bounds.at_most &&
           threads - older(bounds.hung) < bounds.at_once;
  }

  const Bounds bounds;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> waiting;
  std::list<SteadyClock::time_point> began;  // of what runs
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool ending = false;
};

Errands::Errands(Bounds bounds) : shared_(std::make_shared<Shared>(bounds)) {}

Errands::~Errands() {
  std::deque<Work> dropped;
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  dropped.swap(shared_->waiting);
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, shared_->bounds.farewell,
                            [this] { return shared_->threads == 0; });
  lock.unlock();
}

bool Errands::Run(Work work) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back(std::move(work));
    shared_->changed.notify_one();
  }
  return Look();
}

bool Errands::Look() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->NeedsThread()) {
    try {
      std::thread([shared = shared_] { Serve(shared); }).detach();
      ++shared_->threads;
      ++shared_->idle;
    } catch (const std::system_error&) {  // no thread can be had now: asked again
    }
  }
  return shared_->waiting.size() > shared_->idle;
}

void Errands::Serve(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);  // counted as idle already
  while (true) {
    const bool woken = shared->changed.wait_for(
        lock, shared->bounds.idle, [&] { return !shared->waiting.empty() || shared->ending; });
    if (shared->ending || (!woken && shared->threads > 1)) break;
    if (!woken) continue;
    Work work = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    --shared->idle;
    const auto began = shared->began.insert(shared->began.end(), SteadyClock::now());
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    shared->began.erase(began);
    ++shared->idle;
  }
  --shared->idle;
  --shared->threads;
  shared->changed.notify_all();
}

}  // namespace pondage::run
