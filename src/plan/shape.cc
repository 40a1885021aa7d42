#include "plan/shape.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/assert.h"

namespace pondage::plan {
namespace {

std::int64_t Sum(const Shape& shape, std::int64_t (*of)(const fleet::Demand&)) {
  std::int64_t sum = 0;
  for (const Part& part : shape.parts) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(of(part.demand), part.count, &product) ||
        __builtin_add_overflow(sum, product, &sum)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return sum;
}

bool ComesFirst(const Part& a, const Part& b) {
  const auto key = [](const Part& part) {
    const fleet::Demand& d = part.demand;
    return std::tuple(d.gpu_type.empty(), -d.gpus, -d.cpu.value, -d.memory.value);
  };
  return key(a) != key(b) ? key(a) < key(b) : a.demand < b.demand;
}

}  // namespace

Shape ShapeOf(const std::vector<Group>& groups) {
  std::map<fleet::Demand, std::int64_t> counts;
  for (const Group& group : groups) {
    REQUIRE(group.count >= 0 && group.demand.gpus >= 0);
    REQUIRE(group.demand.cpu.value >= 0 && group.demand.memory.value >= 0);
    if (group.count > 0) counts[group.demand] += group.count;
  }
  Shape shape;
  shape.parts.reserve(counts.size());
  for (const auto& [demand, count] : counts) shape.parts.push_back({demand, count});
  std::ranges::sort(shape.parts, ComesFirst);
  return shape;
}

Shape ShapeOf(const Ask& ask) {
  Shape shape = ShapeOf(ask.groups);
  shape.topology = ask.topology;
  shape.avoid = ask.avoid;
  return shape;
}

std::int64_t MemberCount(const Shape& shape) {
  std::int64_t count = 0;
  for (const Part& part : shape.parts) count += part.count;
  return count;
}

std::int64_t TotalGpus(const Shape& shape) {
  return Sum(shape, [](const fleet::Demand& demand) { return std::int64_t{demand.gpus}; });
}

std::int64_t TotalMilliCpu(const Shape& shape) {
  return Sum(shape, [](const fleet::Demand& demand) { return demand.cpu.value; });
}

std::int64_t TotalBytes(const Shape& shape) {
  return Sum(shape, [](const fleet::Demand& demand) { return demand.memory.value; });
}

// A part whose price depends on the device it gets is charged for the compute share it asks, here;
// once bound, for what it got.
base::MilliGpu ChargeOf(const Shape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const std::int64_t milli = Sum(shape, [](const fleet::Demand& demand) {
    if (demand.IsPart()) return demand.share.value;
    return std::int64_t{demand.gpus} * 1000;
  });
  return {std::min(milli, kMost)};
}

int LargestMember(const Shape& shape) {
  int largest = 0;
  for (const Part& part : shape.parts) largest = std::max(largest, part.demand.gpus);
  return largest;
}

std::vector<fleet::Grant> InMemberOrder(const std::vector<Group>& groups, const Shape& shape,
                                        std::vector<fleet::Grant> by_part) {
  std::map<fleet::Demand, std::size_t> next;  // of each part: its first grant not yet handed out
  std::size_t at = 0;
  for (const Part& part : shape.parts) {
    next[part.demand] = at;
    at += static_cast<std::size_t>(part.count);
  }
  REQUIRE(at == by_part.size());
  std::vector<fleet::Grant> grants;
  grants.reserve(by_part.size());
  for (const Group& group : groups) {
    for (int i = 0; i < group.count; ++i) {
      grants.push_back(std::move(by_part[next[group.demand]++]));
    }
  }
  PROMISE(grants.size() == by_part.size());
  return grants;
}

}  // namespace pondage::plan
