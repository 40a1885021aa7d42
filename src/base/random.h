// Seeded randomness that is the same on every machine: the same seed gives the same numbers.
//
// Our own distributions, since those of the standard library differ between implementations.
// One object, one thread. Generator: splitmix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace pondage::base {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next();

  // Uniform in [0, bound). Requires bound > 0.
  std::uint64_t Below(std::uint64_t bound);

  // Uniform in [low, high]. Requires low <= high.
  std::int64_t Between(std::int64_t low, std::int64_t high);

  // Of exponential distribution with this mean, exactly and in integers alone (von Neumann, 1951).
  // Requires 0 <= mean < 2^57.
  std::int64_t Exponential(std::int64_t mean);

  // True once in n on average. Requires n > 0.
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace pondage::base
