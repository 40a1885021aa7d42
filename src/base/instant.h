// A point in time as the pool sees it: milliseconds since the Unix epoch, handed in by the host.
//
// Pure rooms never read a clock. kNever is later than every instant.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "base/quantity.h"

namespace pondage::base {

struct Instant {
  std::int64_t unix_ms = 0;

  auto operator<=>(const Instant&) const = default;
  friend Instant operator+(Instant at, Millis length) { return {at.unix_ms + length.value}; }
  friend Instant operator-(Instant at, Millis length) { return {at.unix_ms - length.value}; }
  friend Millis operator-(Instant later, Instant earlier) {
    return {later.unix_ms - earlier.unix_ms};
  }
};

constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};

}  // namespace pondage::base
