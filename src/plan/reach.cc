#include "plan/reach.h"

#include <algorithm>

namespace pondage::plan {
namespace {

bool Takes(const std::vector<std::int32_t>& types, std::int32_t type) {
  return types.empty() || std::ranges::binary_search(types, type);
}

}  // namespace

ReachId Reaches::Of(const Form& form) {
  Reach reach;
  for (const NumberedPart& numbered : form.parts) {
    const fleet::Demand& asked = ground_.states().Asked(numbered.demand);
    Part part{.machines = fleet::NodeSet(ground_.nodes()),
              .gpus = asked.gpus > 0 || asked.IsPart(),
              .types = ground_.states().TypesOf(numbered.demand)};
    for (const fleet::StateId state : ground_.all().live()) {
      if (ground_.states().Capacity(state, numbered.demand) > 0) {
        part.machines.Add(ground_.all().In(state));
      }
    }
    if (const fleet::NodeSet* allowed = ground_.Allowed(numbered.demand)) {
      part.machines.Cut(*allowed);
    }
    std::ranges::sort(part.types);
    reach.push_back(std::move(part));
  }
  std::ranges::sort(reach);
  const auto twins = std::ranges::unique(reach);
  reach.erase(twins.begin(), twins.end());
  const auto next = static_cast<ReachId>(reaches_.size());
  const auto [found, is_new] = numbers_.try_emplace(std::move(reach), next);
  if (is_new) reaches_.push_back(&found->first);
  return found->second;
}

Reaches::Shared Reaches::SharedBy(ReachId a, ReachId b) {
  const auto [known, is_new] = shared_.try_emplace(std::minmax(a, b));
  if (!is_new) return known->second;
  for (const Part& one : *reaches_[static_cast<std::size_t>(a)]) {
    for (const Part& other : *reaches_[static_cast<std::size_t>(b)]) {
      const Shared shared = WorkOut(one, other);
      known->second.gpus |= shared.gpus;
      known->second.machines |= shared.machines;
    }
  }
  return known->second;
}

Reaches::Shared Reaches::WorkOut(const Part& a, const Part& b) {
  fleet::NodeSet both = a.machines;
  both.Cut(b.machines);
  Shared shared;
  const fleet::States& states = ground_.states();
  for (const fleet::StateId state : ground_.all().live()) {
    if (!fleet::FirstIn(ground_.all().In(state), &both)) continue;
    shared.machines = true;
    if (!a.gpus || !b.gpus) continue;
    const fleet::Free& free = states.Of(state);
    for (std::size_t gpu = 0; gpu < free.gpus.size() && !shared.gpus; ++gpu) {
      const std::int32_t type = states.TypeAt(free.kind, gpu);
      shared.gpus = Takes(a.types, type) && Takes(b.types, type);
    }
  }
  return shared;
}

}  // namespace pondage::plan
