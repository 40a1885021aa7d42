// How far a simulation is: a line drawn over in place, on a terminal alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "replay/player.h"
#include "terminal/progress.h"
#include "terminal/screen.h"

namespace pondage::cmd {

class Meter {
 public:
  explicit Meter(const terminal::Screen& screen) : screen_(screen), progress_(screen) {}

  // `of` 0: nobody knows how many runs there will be.
  void Begin(const std::string& name, std::size_t number, std::size_t of);
  // Jobs a second, and the time left at that pace.
  void Show(const replay::Progress& at);
  void End() { progress_.Clear(); }

 private:
  const terminal::Screen& screen_;
  terminal::Progress progress_;
  std::string title_;
  std::chrono::steady_clock::time_point began_, shown_{};
};

}  // namespace pondage::cmd
