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

}  // namespace pondage::base
