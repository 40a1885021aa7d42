// A gang as the search sees it: members of equal demand are one part, whatever their role.
//
// Values. Two gangs of equal shape fit or fail together, so a shape that failed is not tried again
// within a plan.
#pragma once

#include <cstdint>
#include <vector>

#include "fleet/demand.h"
#include "plan/plan.h"

namespace pondage::plan {

// No gang of more members is placed: what a stranger writes as `replicas` must not size our memory.
inline constexpr std::int64_t kMostMembers = 20'000;

struct Part {
  fleet::Demand demand;
  std::int64_t count = 0;

  auto operator<=>(const Part&) const = default;
};

// Distinct demands, the most constrained first: those that name a GPU type, then the larger ones.
// The order matters within one machine: a member that takes any type comes after those that do not.
struct Shape {
  std::vector<Part> parts;
  Topology topology;
  std::vector<std::string> avoid;

  auto operator<=>(const Shape&) const = default;
};

Shape ShapeOf(const std::vector<Group>& groups);
Shape ShapeOf(const Ask& ask);

std::int64_t MemberCount(const Shape& shape);

// Sums over all members. They stop at the largest int64 instead of leaving it.
std::int64_t TotalGpus(const Shape& shape);
std::int64_t TotalMilliCpu(const Shape& shape);
std::int64_t TotalBytes(const Shape& shape);

// Quota that a gang of this shape is charged. Stops at the largest quantity instead of leaving it.
base::MilliGpu ChargeOf(const Shape& shape);

// GPUs of the member that needs most of them together.
int LargestMember(const Shape& shape);

// `by_part`: grants in the order of the shape's parts. Result: groups in order, members 0..count-1.
std::vector<fleet::Grant> InMemberOrder(const std::vector<Group>& groups, const Shape& shape,
                                        std::vector<fleet::Grant> by_part);

}  // namespace pondage::plan
