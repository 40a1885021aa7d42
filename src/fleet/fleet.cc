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
  if (at >= node.gpus.size() || holder[at]) return false;
  return node.gpus[at].healthy && !node.gpus[at].foreign;
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
  for (const int gpu : grant.gpus) {
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
  for (const int gpu : grant.gpus) {
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
  return std::ranges::all_of(grant.gpus, [&](int gpu) { return place->IsFree(gpu); }) &&
         Covers(place->free_cpu, grant.cpu) && Covers(place->free_memory, grant.memory);
}

const Place* Fleet::Find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}

std::optional<Grant> FitOn(const Place& place, const Demand& demand) {
  if (place.node.health != Health::kReady || !CarriesLabels(place.node, demand)) return {};
  if (!Covers(place.free_cpu, demand.cpu) || !Covers(place.free_memory, demand.memory)) return {};
  Grant grant{place.node.name, {}, demand.cpu, demand.memory};
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
  return std::ranges::count_if(node.gpus, [&](const Gpu& gpu) { return IsOfType(gpu, demand); }) >=
         demand.gpus;
}

bool CarriesLabels(const Node& node, const Demand& demand) {
  return std::ranges::all_of(demand.node_selector, [&](const auto& wanted) {
    const auto label = node.labels.find(wanted.first);
    return label != node.labels.end() && label->second == wanted.second;
  });
}

bool IsOfType(const Gpu& gpu, const Demand& demand) {
  return demand.gpu_type.empty() || gpu.type == demand.gpu_type;
}

}  // namespace pondage::fleet
