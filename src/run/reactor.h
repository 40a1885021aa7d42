// One thread that sleeps in epoll until a descriptor is ready, a closure is posted, or a time is
// due.
//
// Post() from any thread; everything else on the reactor's own thread, where all closures run, one
// at a time. Destruction ends the thread after the closure that runs; what is queued then is
// dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace pondage::run {

class Reactor {
 public:
  using Closure = std::function<void()>;

  Reactor();
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  void Post(Closure closure);
  void After(std::int64_t milliseconds, Closure closure);
  // Calls on_ready for as long as the descriptor is readable or hung up.
  void Watch(int descriptor, Closure on_ready);
  void Unwatch(int descriptor);
  // Ends the thread; to be called before what the closures use goes away.
  void Stop();

 private:
  void Loop();
  void RunPosted();
  int RunTimers();

  int epoll_ = -1;
  int wake_ = -1;
  std::map<int, std::shared_ptr<Closure>> watched_;
  std::multimap<std::int64_t, Closure> timers_;

  std::mutex mutex_;
  std::deque<Closure> posted_;
  bool stopping_ = false;
  std::thread thread_;
};

// Milliseconds since boot: what timers and deadlines are counted in.
std::int64_t BoottimeMs();

}  // namespace pondage::run
