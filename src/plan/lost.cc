#include "plan/lost.h"

#include <algorithm>

namespace pondage::plan {

std::int64_t Lost::Of(fleet::StateId state, fleet::DemandId) {
  return packing_ == Packing::kFirst ? 0 : Left(state);
}

std::int64_t Lost::Left(fleet::StateId state) {
  const auto at = static_cast<std::size_t>(state);
  if (left_.size() <= at) left_.resize(std::max(states_.count(), left_.size() * 2), -1);
  if (left_[at] < 0) left_[at] = states_.Of(state).MilliGpus();
  return left_[at];
}

}  // namespace pondage::plan
