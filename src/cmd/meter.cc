#include "cmd/meter.h"

#include <fmt/core.h>

#include "terminal/text.h"

namespace pondage::cmd {

namespace {
using Seconds = std::chrono::duration<double>;
}  // namespace

void Meter::Begin(const std::string& name, std::size_t number, std::size_t of) {
  title_ =
      of == 0 ? fmt::format("{} ({})", name, number) : fmt::format("{} ({}/{})", name, number, of);
  began_ = std::chrono::steady_clock::now();
  if (screen_.err_is_terminal) progress_.Show(title_);
}

void Meter::Show(const replay::Progress& at) {
  const auto now = std::chrono::steady_clock::now();
  if (!screen_.err_is_terminal || now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  constexpr std::size_t kWidth = 20;
  const std::size_t full = kWidth * at.finished / at.jobs;
  const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
  const double rate = static_cast<double>(at.finished) / Seconds(now - began_).count();
  std::string left;
  if (rate > 0) {
    const auto ms =
        static_cast<std::int64_t>(1'000 * static_cast<double>(at.jobs - at.finished) / rate);
    left = fmt::format(fmt::runtime(screen_.Pick("{} left", "还需 {}")), terminal::ShortAge({ms}));
  }
  progress_.Show(
      fmt::format(fmt::runtime(screen_.Pick("{} [{}] {} of {} jobs, {:.0f} jobs/s, {}",
                                            "{} [{}] {} / {} 个作业, 每秒 {:.0f} 个, {}")),
                  title_, bar, at.finished, at.jobs, rate, left));
}

}  // namespace pondage::cmd
