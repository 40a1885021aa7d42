#include "cmd/lane.h"

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
  waiting_.push_back(std::move(work));
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  wake_.notify_one();
  return {};
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
