// Integer quantities whose unit is their type: milli-GPU, milli-CPU, bytes, milliseconds.
//
// Sums that leave int64 end the process (a quantity that wrapped would be granted): inputs are
// bounded where they are decoded. Divisions are written out by the caller, who says who gets the
// remainder.
#pragma once

#include <compare>
#include <cstdint>

#include "base/assert.h"

namespace pondage::base {

template <class Unit>
struct Quantity {
  std::int64_t value = 0;

  auto operator<=>(const Quantity&) const = default;

  Quantity& operator+=(Quantity other) {
    REQUIRE(!__builtin_add_overflow(value, other.value, &value));
    return *this;
  }
  Quantity& operator-=(Quantity other) {
    REQUIRE(!__builtin_sub_overflow(value, other.value, &value));
    return *this;
  }
  friend Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend Quantity operator*(Quantity a, std::int64_t times) {
    REQUIRE(!__builtin_mul_overflow(a.value, times, &a.value));
    return a;
  }
};

using MilliGpu = Quantity<struct MilliGpuUnit>;  // 1000 = one whole GPU
using MilliCpu = Quantity<struct MilliCpuUnit>;  // 1000 = one core
using Bytes = Quantity<struct BytesUnit>;
using Millis = Quantity<struct MillisUnit>;  // a length of time

constexpr MilliGpu WholeGpus(std::int64_t count) {
  return {count * 1000};
}
constexpr Millis SecondsLong(std::int64_t seconds) {
  return {seconds * 1000};
}

}  // namespace pondage::base
