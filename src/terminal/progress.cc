#include "terminal/progress.h"

#include <fmt/core.h>

#include "terminal/stream.h"
#include "terminal/text.h"

namespace pondage::terminal {
namespace {
constexpr auto kRepeat = std::chrono::seconds(30);
}

void Progress::Show(const std::string& text) {
  if (screen_.err_is_terminal) {
    if (drawn_ && text == shown_) return;
    Note(screen_, "\r\x1b[K" + Fit(text, screen_.columns - 1, screen_.ascii));
    drawn_ = !screen_.quiet;
    shown_ = text;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (text == shown_ && now - last_ < kRepeat) return;
  shown_ = text;
  last_ = now;
  Note(screen_, fmt::format("{} {}\n", ClockText(Now()), text));
}

void Progress::Line(std::string_view text) {
  Clear();
  shown_ = text;
  last_ = std::chrono::steady_clock::now();
  if (screen_.err_is_terminal) {
    Note(screen_, std::string(text) + "\n");
  } else {
    Note(screen_, fmt::format("{} {}\n", ClockText(Now()), text));
  }
}

void Progress::Clear() {
  if (drawn_) Note(screen_, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace pondage::terminal
