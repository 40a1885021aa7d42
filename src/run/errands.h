// Threads for work that may hang in a file system: one more whenever those there are do not get on.
//
// Any thread. Work that never ends takes its thread with it and, up to a bound, nothing else; the
// destructor waits for what gets on and leaves what hangs alone. So work must own what it uses.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace pondage::run {

class Errands {
 public:
  using Work = std::move_only_function<void()>;

  struct Bounds {
    std::size_t at_once = 16;  // without those that hang
    std::size_t at_most = 256;
    std::chrono::milliseconds slow{50};  // at one piece for so long: another thread is due
    std::chrono::milliseconds hung{2'000};
    std::chrono::milliseconds idle{30'000};  // a thread more than one ends
    std::chrono::milliseconds farewell{1'000};
  };

  Errands() : Errands(Bounds()) {}
  explicit Errands(Bounds bounds);
  ~Errands();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // True: it waits for a thread, and Look() is due in `slow`.
  bool Run(Work work);
  // Starts one thread more where work waits behind what is slow. True: it is due again.
  bool Look();

 private:
  struct Shared;
  static void Serve(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace pondage::run
