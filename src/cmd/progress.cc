#include "cmd/progress.h"

#include <fmt/core.h>

#include "cmd/text.h"

namespace pondage::cmd {
namespace {
constexpr auto kRepeat = std::chrono::seconds(30);
}

void Progress::Show(const std::string& text) {
  const Screen& screen = context_.screen();
  if (screen.err_is_terminal) {
    if (drawn_ && text == shown_) return;
    context_.Note("\r\x1b[K" + Fit(text, screen.columns - 1, screen.ascii));
    drawn_ = !screen.quiet;
    shown_ = text;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (text == shown_ && now - last_ < kRepeat) return;
  shown_ = text;
  last_ = now;
  context_.Note(fmt::format("{} {}\n", ClockText(Now()), text));
}

void Progress::Line(std::string_view text) {
  Clear();
  shown_ = text;
  last_ = std::chrono::steady_clock::now();
  if (context_.screen().err_is_terminal) {
    context_.Note(std::string(text) + "\n");
  } else {
    context_.Note(fmt::format("{} {}\n", ClockText(Now()), text));
  }
}

void Progress::Clear() {
  if (drawn_) context_.Note("\r\x1b[K");
  drawn_ = false;
}

}  // namespace pondage::cmd
