// The states machines can be in, numbered: what is free on one, GPU by GPU; and demands, numbered.
//
// Many machines are in few states, and what a demand finds in a state is worked out once: planning
// costs what differs, not what there is. Single-threaded; owned by whoever plans. Invariants:
//   1. Equal states have equal numbers; number 0 is a machine that takes nothing.
//   2. A number keeps its meaning until Clear.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "fleet/demand.h"
#include "fleet/fleet.h"

namespace pondage::fleet {

using StateId = std::int32_t;
using DemandId = std::int32_t;
inline constexpr StateId kOut = 0;
inline constexpr int kWhole = 1000;  // milli of one GPU

// What is free. `kind` numbers what does not change: each GPU's type and memory.
struct Free {
  std::int32_t kind = -1;
  std::int64_t cpu = 0;  // below 0 where the machine came back smaller than what runs on it
  std::int64_t memory = 0;
  std::vector<std::int16_t> gpus;  // milli of each, by index

  int WholeGpus() const;
  std::int64_t MilliGpus() const;
  auto operator<=>(const Free&) const = default;
};

class States {
 public:
  // What a search for room may count on at most: more members no gang has.
  static constexpr int kMost = std::numeric_limits<std::int16_t>::max();

  States();

  StateId Number(const Free& free);
  StateId NumberOf(const Place& place);  // as it is; kOut unless the node is ready
  StateId NumberOfEmpty(const Node& node, bool with_broken);  // as if nothing ran
  const Free& Of(StateId state) const { return *frees_[static_cast<std::size_t>(state)]; }
  std::size_t count() const { return frees_.size(); }

  DemandId Number(const Demand& demand);
  const Demand& Asked(DemandId demand) const {
    return *demands_[static_cast<std::size_t>(demand)].demand;
  }
  std::size_t demands() const { return demands_.size(); }

  // How many members of `demand` a machine in `state` takes; labels and taints are not asked.
  int Capacity(StateId state, DemandId demand) {
    const std::vector<std::int16_t>& known = demands_[static_cast<std::size_t>(demand)].capacity;
    const auto at = static_cast<std::size_t>(state);
    return at < known.size() && known[at] >= 0 ? known[at] : Learn(state, demand);
  }

  // What a member is given: whole GPUs of lowest index, a part of the fullest GPU that has room.
  // Requires Capacity >= 1. `share` is what is charged of that GPU; 0: whole ones.
  struct Pick {
    std::vector<int> gpus;
    int share = 0;
  };
  Pick PickFor(StateId state, DemandId demand) const { return PickFor(Of(state), demand); }
  Pick PickFor(const Free& free, DemandId demand) const;

  // What a part costs on GPU `gpu` of machines of `kind`; more than kWhole: it does not go there.
  int PartOn(std::int32_t kind, std::size_t gpu, DemandId demand) const;
  bool Allows(DemandId demand, std::int32_t kind, std::size_t gpu) const;

  StateId Take(StateId state, DemandId demand, const Pick& pick);
  void Take(Free& free, DemandId demand, const Pick& pick) const;
  StateId Take(StateId state, const Grant& grant);
  // Whether these very GPUs are free, with the cores and the memory.
  bool Has(StateId state, DemandId demand, const Pick& pick) const;
  // With a grant given back; GPUs get no freer than in `most`.
  StateId Give(StateId state, const Grant& grant, StateId most);
  // What is free in both: over a stretch of time, what a job can have for all of it.
  StateId Both(StateId a, StateId b);
  // Without the GPUs that `demand` could use; `whole`: with nothing at all.
  StateId Without(StateId state, DemandId demand, bool whole);

  int KindOf(const Node& node);
  // The types it accepts; empty: all.
  const std::vector<std::int32_t>& TypesOf(DemandId demand) const {
    return demands_[static_cast<std::size_t>(demand)].types;
  }
  // Forgets all states, not demands and kinds: what they were is to be numbered anew.
  void Clear();

  int types() const { return static_cast<int>(types_.size()); }
  int TypeAt(std::int32_t kind, std::size_t gpu) const {
    return kinds_[static_cast<std::size_t>(kind)].types[gpu];
  }

 private:
  struct Kind {
    std::vector<std::int32_t> types;
    std::vector<std::int64_t> memory;
    auto operator<=>(const Kind&) const = default;
  };
  struct Numbered {
    const Demand* demand = nullptr;
    std::vector<std::int32_t> types;     // allowed; empty: all
    std::vector<std::int16_t> capacity;  // by state; -1: not worked out
  };

  std::int32_t TypeNumber(const std::string& name);
  int Learn(StateId state, DemandId demand);
  int WorkOut(const Free& free, DemandId demand) const;
  void ForgetCapacities();

  std::map<std::string, std::int32_t, std::less<>> types_;
  std::vector<Kind> kinds_;
  std::map<Kind, std::int32_t> kind_numbers_;
  std::map<Free, StateId> numbers_;
  std::vector<const Free*> frees_;
  std::map<Demand, DemandId> demand_numbers_;
  std::vector<Numbered> demands_;
  std::size_t known_ = 0;  // capacities remembered, of all demands
};

}  // namespace pondage::fleet
