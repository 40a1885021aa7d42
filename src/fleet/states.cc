#include "fleet/states.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::fleet {
namespace {

constexpr std::size_t kMostKnown = 32'000'000;  // 64 MB: then all is worked out anew

// How many times `ask` goes into `free`, at most `at_most`. Nothing asked always fits, even where
// the machine came back smaller than what runs on it.
int Times(std::int64_t free, std::int64_t ask, int at_most) {
  if (ask == 0) return at_most;
  if (free < ask) return 0;
  return static_cast<int>(std::min<std::int64_t>(free / ask, at_most));
}

}  // namespace

int Free::WholeGpus() const {
  return static_cast<int>(std::ranges::count(gpus, std::int16_t{kWhole}));
}

std::int64_t Free::MilliGpus() const {
  std::int64_t sum = 0;
  for (const std::int16_t milli : gpus) sum += milli;
  return sum;
}

States::States() {
  PROMISE(Number(Free{}) == kOut);
}

StateId States::Number(const Free& free) {
  const auto [found, is_new] = numbers_.try_emplace(free, static_cast<StateId>(frees_.size()));
  if (is_new) frees_.push_back(&found->first);
  return found->second;
}

std::int32_t States::TypeNumber(const std::string& name) {
  return types_.try_emplace(name, static_cast<std::int32_t>(types_.size())).first->second;
}

int States::KindOf(const Node& node) {
  Kind kind;
  kind.types.reserve(node.gpus.size());
  for (const Gpu& gpu : node.gpus) {
    kind.types.push_back(TypeNumber(gpu.type));
    kind.memory.push_back(gpu.memory.value);
  }
  const auto next = static_cast<std::int32_t>(kinds_.size());
  const auto [found, is_new] = kind_numbers_.try_emplace(std::move(kind), next);
  if (is_new) kinds_.push_back(found->first);
  return found->second;
}

StateId States::NumberOf(const Place& place) {
  if (place.node.health != Health::kReady) return kOut;
  Free free{KindOf(place.node), place.free_cpu.value, place.free_memory.value, {}};
  for (int i = 0; i < static_cast<int>(place.node.gpus.size()); ++i) {
    free.gpus.push_back(static_cast<std::int16_t>(place.FreeOf(i).value));
  }
  return Number(free);
}

StateId States::NumberOfEmpty(const Node& node, bool with_broken) {
  if (!with_broken && node.health != Health::kReady) return kOut;
  Free free{KindOf(node), node.cpu.value, node.memory.value, {}};
  for (const Gpu& gpu : node.gpus) {
    free.gpus.push_back(with_broken || gpu.healthy ? kWhole : 0);
  }
  return Number(free);
}

DemandId States::Number(const Demand& demand) {
  const auto next = static_cast<DemandId>(demands_.size());
  const auto [found, is_new] = demand_numbers_.try_emplace(demand, next);
  if (!is_new) return found->second;
  Numbered& numbered = demands_.emplace_back();
  numbered.demand = &found->first;
  if (!demand.gpu_type.empty()) {
    numbered.types.push_back(TypeNumber(demand.gpu_type));
    for (const std::string& other : demand.or_types) numbered.types.push_back(TypeNumber(other));
  }
  return next;
}

bool States::Allows(DemandId demand, std::int32_t kind, std::size_t gpu) const {
  const std::vector<std::int32_t>& types = demands_[static_cast<std::size_t>(demand)].types;
  if (types.empty()) return true;
  return std::ranges::find(types, TypeAt(kind, gpu)) != types.end();
}

int States::PartOn(std::int32_t kind, std::size_t gpu, DemandId demand) const {
  if (!Allows(demand, kind, gpu)) return 2 * kWhole;
  const Demand& asked = Asked(demand);
  if (asked.gpu_memory.value == 0) return static_cast<int>(asked.share.value);
  const base::Bytes device{kinds_[static_cast<std::size_t>(kind)].memory[gpu]};
  return static_cast<int>(std::min<std::int64_t>(PartOf(asked, device).value, 2 * kWhole));
}

int States::Learn(StateId state, DemandId demand) {
  if (state == kOut) return 0;
  std::vector<std::int16_t>& known = demands_[static_cast<std::size_t>(demand)].capacity;
  const auto at = static_cast<std::size_t>(state);
  if (known.size() <= at) {
    if (known_ > kMostKnown) ForgetCapacities();
    known_ -= known.size();
    known.resize(std::max(frees_.size(), known.size() * 2), -1);
    known_ += known.size();
  }
  if (known[at] < 0) known[at] = static_cast<std::int16_t>(WorkOut(Of(state), demand));
  return known[at];
}

int States::WorkOut(const Free& free, DemandId demand) const {
  const Demand& asked = Asked(demand);
  int fits = Times(free.cpu, asked.cpu.value, kMost);
  fits = Times(free.memory, asked.memory.value, fits);
  if (fits == 0) return 0;
  if (asked.IsPart()) {
    int parts = 0;
    for (std::size_t i = 0; i < free.gpus.size(); ++i) {
      parts += free.gpus[i] / std::max(1, PartOn(free.kind, i, demand));
    }
    return std::min(fits, parts);
  }
  if (asked.gpus == 0) return fits;
  int whole = 0;
  for (std::size_t i = 0; i < free.gpus.size(); ++i) {
    if (free.gpus[i] == kWhole && Allows(demand, free.kind, i)) ++whole;
  }
  return Times(whole, asked.gpus, fits);
}

States::Pick States::PickFor(const Free& free, DemandId demand) const {
  const Demand& asked = Asked(demand);
  Pick pick;
  if (!asked.IsPart()) {
    for (std::size_t i = 0; static_cast<int>(pick.gpus.size()) < asked.gpus; ++i) {
      PROMISE(i < free.gpus.size());
      if (free.gpus[i] == kWhole && Allows(demand, free.kind, i)) {
        pick.gpus.push_back(static_cast<int>(i));
      }
    }
    return pick;
  }
  int least = 2 * kWhole;
  for (std::size_t i = 0; i < free.gpus.size(); ++i) {
    const int part = PartOn(free.kind, i, demand);
    if (part > free.gpus[i] || free.gpus[i] >= least) continue;
    least = free.gpus[i];
    pick = {{static_cast<int>(i)}, part};
  }
  PROMISE(!pick.gpus.empty());
  return pick;
}

StateId States::Take(StateId state, DemandId demand, const Pick& pick) {
  Free free = Of(state);
  Take(free, demand, pick);
  return Number(free);
}

void States::Take(Free& free, DemandId demand, const Pick& pick) const {
  const Demand& asked = Asked(demand);
  free.cpu -= asked.cpu.value;
  free.memory -= asked.memory.value;
  for (const int gpu : pick.gpus) {
    std::int16_t& milli = free.gpus[static_cast<std::size_t>(gpu)];
    milli = static_cast<std::int16_t>(milli - (pick.share > 0 ? pick.share : kWhole));
    PROMISE(milli >= 0);
  }
}

void States::Clear() {
  numbers_.clear();
  frees_.clear();
  ForgetCapacities();
  PROMISE(Number(Free{}) == kOut);
}

void States::ForgetCapacities() {
  known_ = 0;
  for (Numbered& numbered : demands_) numbered.capacity = {};
}

StateId States::Take(StateId state, const Grant& grant) {
  if (state == kOut) return kOut;
  Free free = Of(state);
  free.cpu -= grant.cpu.value;
  free.memory -= grant.memory.value;
  const auto each = static_cast<int>(grant.share.value > 0 ? grant.share.value : kWhole);
  for (const int gpu : grant.gpus) {
    if (static_cast<std::size_t>(gpu) >= free.gpus.size()) continue;
    std::int16_t& milli = free.gpus[static_cast<std::size_t>(gpu)];
    milli = static_cast<std::int16_t>(std::max(0, milli - each));
  }
  return Number(free);
}

bool States::Has(StateId state, DemandId demand, const Pick& pick) const {
  if (state == kOut) return false;
  const Free& free = Of(state);
  const Demand& asked = Asked(demand);
  if (Times(free.cpu, asked.cpu.value, 1) == 0) return false;
  if (Times(free.memory, asked.memory.value, 1) == 0) return false;
  const int each = pick.share > 0 ? pick.share : kWhole;
  return std::ranges::all_of(pick.gpus, [&](int gpu) {
    return static_cast<std::size_t>(gpu) < free.gpus.size() &&
           free.gpus[static_cast<std::size_t>(gpu)] >= each;
  });
}

StateId States::Give(StateId state, const Grant& grant, StateId most) {
  if (state == kOut || most == kOut) return state;
  Free free = Of(state);
  const Free& ceiling = Of(most);
  free.cpu += grant.cpu.value;
  free.memory += grant.memory.value;
  const auto each = static_cast<int>(grant.share.value > 0 ? grant.share.value : kWhole);
  for (const int gpu : grant.gpus) {
    const auto at = static_cast<std::size_t>(gpu);
    if (at >= free.gpus.size()) continue;
    free.gpus[at] =
        static_cast<std::int16_t>(std::min<int>(ceiling.gpus[at], free.gpus[at] + each));
  }
  return Number(free);
}

StateId States::Both(StateId a, StateId b) {
  if (a == b) return a;
  if (a == kOut || b == kOut) return kOut;
  Free free = Of(a);
  const Free& other = Of(b);
  REQUIRE(free.kind == other.kind);
  free.cpu = std::min(free.cpu, other.cpu);
  free.memory = std::min(free.memory, other.memory);
  for (std::size_t i = 0; i < free.gpus.size(); ++i) {
    free.gpus[i] = std::min(free.gpus[i], other.gpus[i]);
  }
  return Number(free);
}

StateId States::Without(StateId state, DemandId demand, bool whole) {
  if (state == kOut || whole) return kOut;
  Free free = Of(state);
  for (std::size_t i = 0; i < free.gpus.size(); ++i) {
    if (Allows(demand, free.kind, i)) free.gpus[i] = 0;
  }
  return Number(free);
}

}  // namespace pondage::fleet
