#include "base/random.h"

#include "base/assert.h"

namespace pondage::base {

std::uint64_t Random::Next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t Random::Below(std::uint64_t bound) {
  REQUIRE(bound > 0);
  const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);  // rejects the uneven tail
  std::uint64_t number = Next();
  while (number >= limit) number = Next();
  return number % bound;
}

std::int64_t Random::Between(std::int64_t low, std::int64_t high) {
  REQUIRE(low <= high);
  const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = width == 0 ? Next() : Below(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

std::int64_t Random::Exponential(std::int64_t mean) {
  REQUIRE(mean >= 0 && mean < std::int64_t{1} << 57);
  // Runs of falling numbers: the first number of the first run of odd length is the fraction, and
  // how many runs of even length came before it is the whole part.
  for (int whole = 0; whole < 64; ++whole) {
    const std::uint64_t first = Next();
    bool is_odd = true;
    for (std::uint64_t last = first, next = Next(); next < last; last = next, next = Next()) {
      is_odd = !is_odd;
    }
    if (!is_odd) continue;
    const auto part = static_cast<unsigned __int128>(first) * static_cast<std::uint64_t>(mean);
    return mean * whole + static_cast<std::int64_t>(part >> 64);
  }
  return mean * 63;  // once in e^64 draws
}

}  // namespace pondage::base
