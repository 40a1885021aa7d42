// GPU time that fades: what was used counts half as much after each half-life.
//
// Fixed point, so that every machine gets the same bits. Pure values. The closed form for g GPUs
// over d: U <- U * 2^(-d/H) + g * (H / ln 2) * (1 - 2^(-d/H)). Fading is monotone: the order of two
// that use nothing never changes with time. Invariant: At(t) depends on the changes of rate alone,
// not on how often it was asked.
#pragma once

#include <array>
#include <cstdint>

#include "base/instant.h"
#include "base/quantity.h"

namespace pondage::queue {

class Decay {
 public:
  // Requires a half-life of at least a second, at most a hundred years.
  explicit Decay(base::Millis half_life);

  base::Millis half_life() const { return half_life_; }

  // 2^(-d/H) in units of 2^-62; d < 0 counts as 0.
  std::int64_t Factor(base::Millis d) const;

  // milli-GPU x ms that `rate` adds up to in d, faded until the end of d.
  std::int64_t Accrued(base::MilliGpu rate, base::Millis d) const;
  std::int64_t Faded(std::int64_t used, base::Millis d) const;

 private:
  static constexpr int kBits = 40;  // of d/H after the point

  base::Millis half_life_;
  std::array<std::int64_t, kBits + 1> roots_{};  // roots_[i] = 2^(-2^-i)
};

// What one user or queue used, and uses now. In milli-GPU x ms.
struct Use {
  std::int64_t value = 0;  // as of `at`
  base::MilliGpu rate;
  base::Instant at;

  std::int64_t At(base::Instant now, const Decay& decay) const;
  void Change(base::MilliGpu by, base::Instant now, const Decay& decay);
  bool operator==(const Use&) const = default;
};

}  // namespace pondage::queue
