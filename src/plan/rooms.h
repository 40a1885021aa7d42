// What is free on every machine while one plan is made.
//
// The planner's only working copy of the fleet: made once a plan, changed by trials that undo what
// they took. Single-threaded; the fleet must outlive it. Invariants:
//   1. Rooms stand in the order of their nodes' names.
//   2. `free` and `kept` are ascending; a GPU is in one of them, or not free.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "fleet/fleet.h"
#include "plan/shape.h"

namespace pondage::plan {

// Which room counts as free.
enum class View {
  kFree,          // ready nodes: what nobody holds
  kEmptyHealthy,  // ready nodes and healthy GPUs, as if nothing ran
  kEmptyAll,      // all nodes and GPUs, as if nothing ran and nothing was broken
};

// Something that is free now and kept for an earlier gang. A gang that has ended by `until` may use
// it before.
struct KeptGpu {
  int gpu = 0;
  base::Instant until;
};
struct KeptAmount {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  base::Instant until;
};

struct Room {
  const fleet::Place* place = nullptr;
  std::vector<int> free;  // GPU indices
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<KeptGpu> kept;
  std::vector<KeptAmount> kept_amounts;
  std::vector<KeptGpu> lent;
  std::vector<KeptAmount> lent_amounts;
  bool closed = false;  // all of it is kept, for nobody knows how long
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

  // Takes or frees what another view of the same fleet found. GPUs that could not be granted again,
  // and machines that are not in this view, are passed over.
  void TakeExactly(const fleet::Grant& grant);
  void Free(const fleet::Grant& grant);

  // The job will hold these GPUs once the plan is carried out.
  void Note(base::JobId job, const std::vector<fleet::Grant>& grants);

  // Keeps for an earlier gang, for nobody knows how long, the free GPUs that a member of `demand`
  // could use once its node has enough of them; `whole`: and everything else on those nodes.
  void Keep(const fleet::Demand& demand, bool whole);

  // Keeps until then what of `grants` is free now. `then`: the rooms as they will be, grants taken.
  // True when that includes cores or memory.
  bool KeepUntil(base::Instant until, const std::vector<fleet::Grant>& grants, const Rooms& then);

  // Opens what is kept until `ends_by` or longer, for one trial; Recall keeps again what is left of
  // it.
  void Lend(base::Instant ends_by);
  void Recall();

  // Ends all keeping.
  void Open();

 private:
  const Room* Find(const std::string& node) const;
  Room* Find(const std::string& node);

  std::vector<Room> rooms_;
};

}  // namespace pondage::plan
