#include "queue/decay.h"

#include <algorithm>

#include "base/assert.h"

namespace pondage::queue {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kOne = std::int64_t{1} << 62;
// 1 / ln 2 in units of 2^-30: 1.442695040888963 x 2^30.
constexpr std::int64_t kInverseLn2 = 1'549'082'005;

// The largest root with root^2 <= x * 2^62, by bits.
std::int64_t Root(std::int64_t x) {
  const Wide square = static_cast<Wide>(x) << 62;
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 61; bit > 0; bit >>= 1) {
    const Wide next = root + bit;
    if (next * next <= square) root += bit;
  }
  return root;
}

std::int64_t Times(std::int64_t value, std::int64_t factor) {
  return static_cast<std::int64_t>(static_cast<Wide>(value) * factor >> 62);
}

}  // namespace

Decay::Decay(base::Millis half_life) : half_life_(half_life) {
  REQUIRE(half_life.value >= 1000 && half_life.value <= 3'155'760'000'000);
  roots_[0] = kOne / 2;
  for (int i = 1; i <= kBits; ++i) {
    roots_[static_cast<std::size_t>(i)] = Root(roots_[static_cast<std::size_t>(i) - 1]);
  }
}

std::int64_t Decay::Factor(base::Millis d) const {
  if (d.value <= 0) return kOne;
  const std::int64_t halvings = d.value / half_life_.value;
  if (halvings >= 62) return 0;
  const auto rest = static_cast<std::uint64_t>(
      (static_cast<Wide>(d.value % half_life_.value) << kBits) / half_life_.value);
  std::int64_t factor = kOne;
  for (int i = 1; i <= kBits; ++i) {
    if ((rest >> (kBits - i) & 1) != 0) factor = Times(factor, roots_[static_cast<std::size_t>(i)]);
  }
  return factor >> halvings;
}

std::int64_t Decay::Accrued(base::MilliGpu rate, base::Millis d) const {
  // H / ln 2, rounded down, times what has not faded: at most rate x d.
  const Wide scale = static_cast<Wide>(half_life_.value) * kInverseLn2 >> 30;
  const Wide grown = static_cast<Wide>(rate.value) * scale;
  const Wide part = kOne - Factor(d);
  // Split, since the product of all three may leave 128 bits.
  const Wide high = (grown >> 32) * part >> 30;
  const Wide low = (grown & 0xffffffff) * part >> 62;
  return static_cast<std::int64_t>(high + low);
}

std::int64_t Decay::Faded(std::int64_t used, base::Millis d) const {
  return Times(used, Factor(d));
}

std::int64_t Use::At(base::Instant now, const Decay& decay) const {
  if (now <= at) return value;
  return decay.Faded(value, now - at) + decay.Accrued(rate, now - at);
}

void Use::Change(base::MilliGpu by, base::Instant now, const Decay& decay) {
  value = At(now, decay);
  at = std::max(at, now);
  rate += by;
  PROMISE(rate.value >= 0);
}

}  // namespace pondage::queue
