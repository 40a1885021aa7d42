// The order in which waiting gangs are offered what is free.
//
// Pure and total: gangs inside their queue's guarantee first, then priority (high first), then
// arrival, then id. Whether a gang is inside the guarantee counts what earlier gangs of its queue
// ask.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/shape.h"

namespace pondage::plan {

// What a gang that must wait keeps from later ones.
struct Keeps {
  bool room = false;   // the free GPUs it could use
  bool whole = false;  // ... and all else on those machines: it waits for cores or memory
  std::string level;   // room under the limit of this queue
  bool proven = true;  // false: it may fit, the search was cut
  std::optional<base::Instant> start_latest;  // when its reservation begins
};

struct Waiting {
  const Ask* ask = nullptr;
  Shape shape;
  bool guaranteed = false;
  Keeps keeps;
};

std::vector<Waiting> InOrder(const std::vector<Ask>& asks, const queue::Tree& queues);

// Quota that a gang of this shape is charged. Stops at the largest quantity instead of leaving it.
base::MilliGpu ChargeOf(const Shape& shape);

}  // namespace pondage::plan
