#include "plan/lost.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"

namespace pondage::plan {
namespace {

constexpr std::int64_t kTotal = 1 << 20;  // weights add up to about this
constexpr int kUnknown = -2;
constexpr std::size_t kMostKnown = 16'000'000;  // 256 MB: then all is worked out anew

bool IsAllowed(const fleet::States& states, fleet::DemandId demand, const fleet::Free& free) {
  return free.gpus.empty() || states.Allows(demand, free.kind, 0);
}

}  // namespace

Lost::Lost(fleet::States& states, const Policy& policy) : states_(states), policy_(policy) {
  Expect({{{.gpus = 1}, 1}, {{.gpus = 2}, 1}, {{.gpus = 4}, 1}, {{.gpus = 8}, 1}});
}

void Lost::Expect(const std::vector<Typical>& typical) {
  std::int64_t sum = 0;
  for (const Typical& one : typical) sum += one.weight;
  classes_.clear();
  for (const Typical& one : typical) {
    const fleet::Demand& demand = one.demand;
    if ((demand.gpus == 0 && !demand.IsPart()) || one.weight <= 0) continue;
    const int milli = demand.IsPart() ? static_cast<int>(demand.share.value) : fleet::kWhole;
    classes_.push_back({one.weight * kTotal / sum, states_.Number(demand),
                        demand.IsPart() ? 1 : demand.gpus, milli, demand.cpu.value,
                        demand.memory.value});
  }
  Clear();
}

void Lost::Clear() {
  known_ = 0;
  costs_.clear();
  before_.clear();
}

// The price of a type: what share of the demand insists on it, over its share of the supply. A
// class that names several types wants each as far as there is of it.
void Lost::Supply(const fleet::View& empty) {
  std::vector<std::int64_t> supply(static_cast<std::size_t>(states_.types()));
  for (const fleet::StateId state : empty.live()) {
    const fleet::Free& free = states_.Of(state);
    for (std::size_t gpu = 0; gpu < free.gpus.size(); ++gpu) {
      supply[static_cast<std::size_t>(states_.TypeAt(free.kind, gpu))] += empty.CountOf(state);
    }
  }
  const auto all = static_cast<double>(std::accumulate(supply.begin(), supply.end(), 0LL));
  std::vector<double> wanted(supply.size());
  double asked = 0;
  for (const Class& one : classes_) {
    const double amount = static_cast<double>(one.weight) * one.gpus * one.milli;
    asked += amount;
    const auto types = states_.TypesOf(one.demand);
    std::int64_t there = 0;
    for (const std::int32_t type : types) there += supply[static_cast<std::size_t>(type)];
    for (const std::int32_t type : types) {
      const auto at = static_cast<std::size_t>(type);
      if (there > 0)
        wanted[at] += amount * static_cast<double>(supply[at]) / static_cast<double>(there);
    }
  }
  prices_.assign(supply.size(), 0);
  for (std::size_t type = 0; type < supply.size(); ++type) {
    if (supply[type] == 0 || asked == 0) continue;
    const double price = wanted[type] / asked * all / static_cast<double>(supply[type]);
    prices_[type] = static_cast<std::int64_t>(price * static_cast<double>(kTotal));
  }
  Clear();
}

Lost::Cost Lost::Of(fleet::StateId state, fleet::DemandId demand, int members) {
  if (known_ > kMostKnown) Clear();
  std::vector<Cost>& known = costs_[{demand, members}];
  const auto at = static_cast<std::size_t>(state);
  if (known.size() <= at) {
    known_ -= known.size();
    known.resize(std::max(states_.count(), known.size() * 2), {0, kUnknown});
    known_ += known.size();
  }
  if (known[at].gpu == kUnknown) known[at] = WorkOut(state, demand, members);
  return known[at];
}

Lost::Cost Lost::WorkOut(fleet::StateId state, fleet::DemandId demand, int members) {
  const fleet::Free& free = states_.Of(state);
  if (policy_.packing == Packing::kFirst) return {};
  if (policy_.packing == Packing::kBestFit) return {free.MilliGpus(), -1};
  const fleet::Demand& asked = states_.Asked(demand);
  if (asked.gpus == 0 && !asked.IsPart() && free.gpus.empty()) return {-1, -1};
  if (asked.IsPart() && members == 1) return Part(free, Before(state), demand);
  fleet::Free after = free;
  Cost cost;
  for (int i = 0; i < members; ++i) {
    const fleet::States::Pick pick = states_.PickFor(after, demand);
    for (const int gpu : pick.gpus) {
      const int milli = pick.share > 0 ? pick.share : fleet::kWhole;
      cost.lost += Price(free, static_cast<std::size_t>(gpu), milli);
    }
    states_.Take(after, demand, pick);
  }
  cost.lost += Unusable(after) - Before(state);
  return cost;
}

// On each GPU that has room; of equal ones the first.
Lost::Cost Lost::Part(const fleet::Free& free, std::int64_t before, fleet::DemandId demand) const {
  Cost best;
  for (std::size_t gpu = 0; gpu < free.gpus.size(); ++gpu) {
    const int part = states_.PartOn(free.kind, gpu, demand);
    if (part > free.gpus[gpu]) continue;
    if (gpu > 0 && best.gpu >= 0 && free.gpus[gpu] == free.gpus[gpu - 1]) continue;
    fleet::Free after = free;
    states_.Take(after, demand, {{static_cast<int>(gpu)}, part});
    const std::int64_t lost = Unusable(after) - before + Price(free, gpu, part);
    if (best.gpu < 0 || lost < best.lost) best = {lost, static_cast<int>(gpu)};
  }
  PROMISE(best.gpu >= 0);
  return best;
}

std::int64_t Lost::Price(const fleet::Free& free, std::size_t gpu, int milli) const {
  const auto type = static_cast<std::size_t>(states_.TypeAt(free.kind, gpu));
  if (type >= prices_.size()) return 0;
  return prices_[type] * milli * policy_.scarcity_milli / 1000;
}

std::int64_t Lost::Before(fleet::StateId state) {
  const auto at = static_cast<std::size_t>(state);
  if (before_.size() <= at) before_.resize(std::max(states_.count(), before_.size() * 2), -1);
  if (before_[at] < 0) before_[at] = Unusable(states_.Of(state));
  return before_[at];
}

std::int64_t Lost::Unusable(const fleet::Free& free) const {
  std::int64_t sum = 0;
  for (const Class& one : classes_) sum += one.weight * UnusableFor(free, one);
  return sum;
}

// Milli-GPU of this machine that members of the class cannot use, were nothing else to come.
std::int64_t Lost::UnusableFor(const fleet::Free& free, const Class& asked) const {
  std::int64_t all = 0;
  std::int64_t usable = 0;
  int gpus = 0;
  for (const std::int16_t milli : free.gpus) {
    all += milli;
    if (milli < asked.milli || milli == 0) continue;
    usable += milli;
    ++gpus;
  }
  if (gpus < asked.gpus || free.cpu < asked.cpu || free.memory < asked.memory) return all;
  if (!IsAllowed(states_, asked.demand, free)) return all;
  std::int64_t fed = usable;  // that cores and memory suffice for
  const std::int64_t member = std::int64_t{asked.gpus} * asked.milli;
  if (asked.cpu > 0) fed = std::min(fed, free.cpu * member / asked.cpu);
  if (asked.memory > 0)
    fed = std::min(fed, free.memory / (asked.memory / 1000 + 1) * member / 1000);
  return all - usable + (usable - fed) * policy_.stranding_milli / 1000;
}

}  // namespace pondage::plan
