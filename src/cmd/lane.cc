#include "cmd/lane.h"

#include <system_error>
#include <utility>

namespace pondage::cmd {

base::Result<void> Lane::Post(Work work) {
  const std::lock_guard lock(mutex_);
  if (ending_) {
    return base::Fail(base::Kind::kUnavailable, "PND-A029", "", "the server is stopping");
  }
  if (waiting_.size() >= most_waiting_) {
    return base::Fail(base::Kind::kUnavailable, "PND-A032", "",
                      "too much of this kind is being done: try again in a moment");
  }
  if (!HasThread()) {
    return base::Fail(base::Kind::kUnavailable, "PND-A032", "",
                      "this machine gives the server no thread for it: try again in a moment");
  }
  waiting_.push_back(std::move(work));
  wake_.notify_one();
  return {};
}

bool Lane::HasThread() {
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void Lane::End() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Lane::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    const bool ending = ending_;
    lock.unlock();
    work(ending);
    lock.lock();
  }
}

}  // namespace pondage::cmd
