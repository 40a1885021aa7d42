// Work that takes long, off the threads that must not wait: one thread, one piece after the other.
//
// Post() from any thread; End() once, from one, and the destructor does it. Each piece that was
// taken is called exactly once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace pondage::cmd {

class Lane {
 public:
  // `ending`: the lane ends; what can be left undone should be.
  using Work = std::function<void(bool ending)>;

  explicit Lane(std::size_t waiting) : most_waiting_(waiting) {}
  ~Lane() { End(); }

  // kUnavailable: so many wait already or no thread can be had (PND-A032), or the lane has ended
  // (PND-A029).
  base::Result<void> Post(Work work);
  // Comes back when all work that was taken is done.
  void End();

 private:
  bool HasThread();
  void Run();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> waiting_;
  bool ending_ = false;
  std::thread thread_;  // begins with the first piece
};

}  // namespace pondage::cmd
