#include "port/forward_clock.h"

#include <algorithm>
#include <utility>

namespace pondage::port {
namespace {

constexpr std::int64_t kDayUs = 86'400'000'000;
constexpr std::int64_t kGain = 10;  // one in so many

}  // namespace

ForwardClock::ForwardClock(Source wall, Source steady)
    : wall_(std::move(wall)), steady_(std::move(steady)), now_us_(wall_()), steady_us_(steady_()) {}

base::Instant ForwardClock::Now() const {
  const std::lock_guard lock(mutex_);
  const std::int64_t passed = std::max<std::int64_t>(0, steady_() - steady_us_);
  steady_us_ += passed;
  now_us_ += passed;
  const std::int64_t behind = wall_() - now_us_;
  if (behind > kDayUs) {
    now_us_ += behind;
  } else if (behind > 0) {
    now_us_ += std::min(behind, passed / kGain);
  }
  return {now_us_ / 1000};
}

}  // namespace pondage::port
