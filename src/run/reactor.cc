#include "run/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/assert.h"

namespace pondage::run {

std::int64_t BoottimeMs() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

Reactor::Reactor()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  REQUIRE(epoll_ >= 0 && wake_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  REQUIRE(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0);
  thread_ = std::thread([this] { Loop(); });
}

Reactor::~Reactor() {
  Stop();
  close(epoll_);
  close(wake_);
}

void Reactor::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
  thread_.join();
}

void Reactor::Post(Closure closure) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(closure));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

void Reactor::After(std::int64_t milliseconds, Closure closure) {
  timers_.emplace(BoottimeMs() + milliseconds, std::move(closure));
}

void Reactor::Watch(int descriptor, Closure on_ready) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  const bool fresh =
      watched_.insert_or_assign(descriptor, std::make_shared<Closure>(std::move(on_ready))).second;
  if (fresh) REQUIRE(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void Reactor::Unwatch(int descriptor) {
  if (watched_.erase(descriptor) > 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void Reactor::RunPosted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(wake_, &count, sizeof(count));
  std::deque<Closure> closures;
  {
    const std::lock_guard lock(mutex_);
    closures.swap(posted_);
  }
  for (Closure& closure : closures) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    closure();
  }
}

// Milliseconds until the next timer; -1: none.
int Reactor::RunTimers() {
  while (!timers_.empty() && timers_.begin()->first <= BoottimeMs()) {
    Closure closure = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    closure();
  }
  if (timers_.empty()) return -1;
  return static_cast<int>(
      std::clamp<std::int64_t>(timers_.begin()->first - BoottimeMs(), 0, 60'000));
}

void Reactor::Loop() {
  std::array<epoll_event, 64> events;
  while (true) {
    const int wait = RunTimers();
    const int count = epoll_wait(epoll_, events.data(), events.size(), wait);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == wake_) {
        RunPosted();
      } else if (const auto found = watched_.find(descriptor); found != watched_.end()) {
        const std::shared_ptr<Closure> on_ready = found->second;  // it may unwatch itself
        (*on_ready)();
      }
    }
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

}  // namespace pondage::run
