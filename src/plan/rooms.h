// What is free on every machine while one plan is made.
//
// The planner's only working copy of the fleet: made once a plan, changed by trials that undo what
// they took. Single-threaded; the fleet must outlive it. Invariants:
//   1. Rooms stand in the order of their nodes' names.
//   2. `free` is ascending; a GPU is in `free`, in `kept`, or not free.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/id.h"
#include "fleet/fleet.h"
#include "plan/shape.h"

namespace pondage::plan {

// Which room counts as free.
enum class View {
  kFree,          // ready nodes: what nobody holds
  kEmptyHealthy,  // ready nodes and healthy GPUs, as if nothing ran
  kEmptyAll,      // all nodes and GPUs, as if nothing ran and nothing was broken
};

struct Room {
  const fleet::Place* place = nullptr;
  std::vector<int> free;  // GPU indices
  std::vector<int> kept;  // free, but for a gang that is earlier in order
  bool closed = false;    // all of it is for a gang that is earlier in order
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<std::pair<base::JobId, fleet::Grant>> started;  // taken by this plan
};

class Rooms {
 public:
  Rooms(const fleet::Fleet& fleet, View view);

  const std::vector<Room>& all() const { return rooms_; }

  // How many members of `demand` room `index` takes now, at most `at_most`.
  int Capacity(std::size_t index, const fleet::Demand& demand, int at_most) const;

  // Takes the GPUs of lowest index that fit. Requires Capacity >= 1.
  fleet::Grant Take(std::size_t index, const fleet::Demand& demand);
  void Give(std::size_t index, const fleet::Grant& grant);

  // The job will hold these GPUs once the plan is carried out.
  void Note(base::JobId job, const std::vector<fleet::Grant>& grants);

  // Keeps for an earlier gang the free GPUs that a member of `demand` could use once its node has
  // enough of them; `whole`: and everything else on those nodes.
  void Keep(const fleet::Demand& demand, bool whole);

  // Ends all keeping.
  void Open();

 private:
  std::vector<Room> rooms_;
};

}  // namespace pondage::plan
