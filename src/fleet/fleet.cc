#include "fleet/fleet.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::fleet {
namespace {

bool IsAscending(const std::vector<int>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i] < 0 || (i > 0 && gpus[i] <= gpus[i - 1])) return false;
  }
  return true;
}

// A replica that asks for none of it is never short of it, though the node may be overdrawn.
template <class Amount>
bool Covers(Amount free, Amount ask) {
  return ask.value == 0 || ask <= free;
}

void Recount(Place& place) {
  place.free_cpu = place.node.cpu;
  place.free_memory = place.node.memory;
  std::size_t positions = place.node.gpus.size();
  for (const auto& [job, grants] : place.grants) {
    for (const Grant& grant : grants) {
      place.free_cpu -= grant.cpu;
      place.free_memory -= grant.memory;
      if (!grant.gpus.empty()) {
        positions = std::max(positions, static_cast<std::size_t>(grant.gpus.back()) + 1);
      }
    }
  }
  place.holder.resize(positions);
}

}  // namespace

bool Place::IsFree(int index) const {
  REQUIRE(index >= 0);
  const auto at = static_cast<std::size_t>(index);
  if (at >= node.gpus.size() || holder[at] || shared.contains(index)) return false;
  return node.gpus[at].healthy && !node.gpus[at].foreign;
}

base::MilliGpu Place::FreeOf(int index) const {
  if (IsFree(index)) return base::WholeGpus(1);
  const auto held = shared.find(index);
  if (held == shared.end()) return {};
  const auto at = static_cast<std::size_t>(index);
  const bool usable = at < node.gpus.size() && node.gpus[at].healthy && !node.gpus[at].foreign;
  return usable ? base::WholeGpus(1) - held->second : base::MilliGpu{};
}

int Place::FreeGpus() const {
  if (node.health != Health::kReady) return 0;
  int free = 0;
  for (int i = 0; i < static_cast<int>(node.gpus.size()); ++i) free += IsFree(i) ? 1 : 0;
  return free;
}

void Fleet::See(Node node) {
  Place& place = places_[node.name];
  place.node = std::move(node);
  place.forgotten = false;
  Recount(place);
}

void Fleet::Lose(std::string_view name) {
  const auto found = places_.find(name);
  if (found != places_.end()) found->second.node.health = Health::kLost;
}

void Fleet::Forget(std::string_view name) {
  const auto found = places_.find(name);
  if (found == places_.end()) return;
  found->second.node.health = Health::kLost;
  found->second.forgotten = true;
  if (found->second.grants.empty()) places_.erase(found);
}

bool Fleet::Cordon(std::string_view name, bool cordoned) {
  const auto found = places_.find(name);
  if (found == places_.end()) return false;
  Health& health = found->second.node.health;
  if (health != Health::kLost) health = cordoned ? Health::kCordoned : Health::kReady;
  return true;
}

void Fleet::Bind(base::JobId job, const Grant& grant) {
  const auto found = places_.find(grant.node);
  REQUIRE(found != places_.end());
  REQUIRE(IsAscending(grant.gpus));
  Place& place = found->second;
  place.grants[job].push_back(grant);
  Recount(place);
  if (grant.share.value > 0) {
    REQUIRE(grant.gpus.size() == 1 && !place.holder[static_cast<std::size_t>(grant.gpus[0])]);
    base::MilliGpu& sum = place.shared[grant.gpus[0]];
    sum += grant.share;
    REQUIRE(sum <= base::WholeGpus(1));
    return;
  }
  for (const int gpu : grant.gpus) {
    REQUIRE(!place.shared.contains(gpu));
    std::optional<base::JobId>& holder = place.holder[static_cast<std::size_t>(gpu)];
    REQUIRE(!holder);
    holder = job;
  }
}

void Fleet::Release(base::JobId job, const Grant& grant) {
  const auto found = places_.find(grant.node);
  REQUIRE(found != places_.end());
  Place& place = found->second;
  const auto of_job = place.grants.find(job);
  REQUIRE(of_job != place.grants.end());
  const auto held = std::ranges::find(of_job->second, grant);
  REQUIRE(held != of_job->second.end());
  if (grant.share.value > 0) {
    const auto part = place.shared.find(grant.gpus[0]);
    PROMISE(part != place.shared.end() && part->second >= grant.share);
    part->second -= grant.share;
    if (part->second.value == 0) place.shared.erase(part);
  }
  for (const int gpu : grant.gpus) {
    if (grant.share.value > 0) break;
    PROMISE(place.holder[static_cast<std::size_t>(gpu)] == job);
    place.holder[static_cast<std::size_t>(gpu)].reset();
  }
  of_job->second.erase(held);
  if (of_job->second.empty()) place.grants.erase(of_job);
  Recount(place);
  if (place.forgotten && place.grants.empty()) places_.erase(found);
}

bool Fleet::Fits(const Grant& grant) const {
  const Place* place = Find(grant.node);
  if (place == nullptr || place->node.health != Health::kReady) return false;
  if (!IsAscending(grant.gpus)) return false;
  const base::MilliGpu each = grant.share.value > 0 ? grant.share : base::WholeGpus(1);
  return std::ranges::all_of(grant.gpus, [&](int gpu) { return place->FreeOf(gpu) >= each; }) &&
         Covers(place->free_cpu, grant.cpu) && Covers(place->free_memory, grant.memory);
}

const Place* Fleet::Find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}

namespace {

// On the fullest GPU that has room.
std::optional<Grant> PartOn(const Place& place, const Demand& demand, Grant grant) {
  base::MilliGpu least = base::WholeGpus(2);
  for (int i = 0; i < static_cast<int>(place.node.gpus.size()); ++i) {
    const Gpu& gpu = place.node.gpus[static_cast<std::size_t>(i)];
    const base::MilliGpu part = PartOf(demand, gpu.memory);
    const base::MilliGpu free = place.FreeOf(i);
    if (!IsOfType(gpu, demand) || part > free || free >= least) continue;
    least = free;
    grant.gpus = {i};
    grant.share = part;
  }
  if (grant.gpus.empty()) return {};
  return grant;
}

bool Holds(const Node& node, const Term& term) {
  const auto label = node.labels.find(term.key);
  const bool present = label != node.labels.end();
  if (term.is == Term::Is::kPresent) return present;
  if (term.is == Term::Is::kAbsent) return !present;
  const bool in = present && std::ranges::find(term.values, label->second) != term.values.end();
  return in == (term.is == Term::Is::kIn);
}

bool Tolerates(const Demand& demand, const Taint& taint) {
  return std::ranges::any_of(demand.tolerations, [&](const Toleration& toleration) {
    if (toleration.key.empty()) return true;
    return toleration.key == taint.key && (toleration.any_value || toleration.value == taint.value);
  });
}

}  // namespace

std::optional<Grant> FitOn(const Place& place, const Demand& demand) {
  if (place.node.health != Health::kReady || !CarriesLabels(place.node, demand)) return {};
  if (!Covers(place.free_cpu, demand.cpu) || !Covers(place.free_memory, demand.memory)) return {};
  Grant grant{place.node.name, {}, demand.cpu, demand.memory, {}};
  if (demand.IsPart()) return PartOn(place, demand, std::move(grant));
  for (int i = 0; i < static_cast<int>(place.node.gpus.size()); ++i) {
    if (static_cast<int>(grant.gpus.size()) >= demand.gpus) break;
    if (place.IsFree(i) && IsOfType(place.node.gpus[static_cast<std::size_t>(i)], demand)) {
      grant.gpus.push_back(i);
    }
  }
  if (static_cast<int>(grant.gpus.size()) < demand.gpus) return {};
  return grant;
}

bool CouldFit(const Node& node, const Demand& demand) {
  if (!CarriesLabels(node, demand)) return false;
  if (node.cpu < demand.cpu || node.memory < demand.memory) return false;
  return std::ranges::count_if(node.gpus, [&](const Gpu& gpu) {
           return IsOfType(gpu, demand) &&
                  (!demand.IsPart() || PartOf(demand, gpu.memory) <= base::WholeGpus(1));
         }) >= demand.gpus;
}

bool CarriesLabels(const Node& node, const Demand& demand) {
  return std::ranges::all_of(demand.node_selector,
                             [&](const auto& wanted) {
                               const auto label = node.labels.find(wanted.first);
                               return label != node.labels.end() && label->second == wanted.second;
                             }) &&
         std::ranges::all_of(demand.affinity,
                             [&](const Term& term) { return Holds(node, term); }) &&
         std::ranges::all_of(node.taints,
                             [&](const Taint& taint) { return Tolerates(demand, taint); });
}

bool IsOfType(const Gpu& gpu, const Demand& demand) {
  return demand.gpu_type.empty() || gpu.type == demand.gpu_type ||
         std::ranges::find(demand.or_types, gpu.type) != demand.or_types.end();
}

base::MilliGpu PartOf(const Demand& demand, base::Bytes device) {
  if (demand.gpu_memory.value == 0) return demand.share;
  if (demand.gpu_memory > device) return base::WholeGpus(2);
  // Both below 2^63 / 1000: a device has less than 9 PB.
  const std::int64_t milli = (demand.gpu_memory.value * 1000 + device.value - 1) / device.value;
  return std::max(demand.share, base::MilliGpu{milli});
}

}  // namespace pondage::fleet
