// Progress on stderr: on a terminal one line drawn over in place, elsewhere a stamped line for each
// change and one every 30 seconds.
//
// One thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "terminal/screen.h"

namespace pondage::terminal {

class Progress {
 public:
  explicit Progress(const Screen& screen) : screen_(screen) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is going on now. Repeated calls with the same text are cheap.
  void Show(const std::string& text);
  // A line that stays.
  void Line(std::string_view text);
  // Takes the drawn line away, before something else is printed.
  void Clear();

 private:
  const Screen& screen_;
  std::string shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace pondage::terminal
