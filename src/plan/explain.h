// Why a gang waits: the one constraint that binds, with its numbers and the cheapest change.
//
// Explains against what is free after the cycle's starts were carried out, so that the reason is
// true when it is read. Made when somebody asks, single-threaded, good until the next fact; work is
// shared among gangs of equal shape.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/cycle.h"
#include "plan/plan.h"
#include "plan/reach.h"

namespace pondage::plan {

class Explainer {
 public:
  Explainer(Desk desk, base::Instant now);

  Refusal Explain(const Waiter& waiter);

 private:
  struct Known {  // of one shape
    Refusal refusal;
    ReachId reach = 0;
  };
  // A waiting job that keeps something from later ones.
  struct Keeper {
    std::size_t place = 0;  // in the order of the line
    base::JobId job;
    ReachId reach = 0;
    bool room = false;                    // GPUs it could use
    bool machines = false;                // ... and all else on those machines
    const std::string* quota = nullptr;   // room under the limit of this queue
    std::optional<base::Instant> starts;  // none: nobody can tell
  };
  // One that is in somebody's way, and what is known of it and those before it.
  struct Before {
    std::size_t place = 0;
    base::JobId job;
    base::Instant first_start;
    bool all_start = true;
  };

  std::optional<Refusal> Unready(const Waiter& waiter);
  std::optional<Refusal> OverLimit(const Waiter& waiter);
  std::optional<Refusal> OverUserLimit(const Waiter& waiter);
  const Known& OfShape(const Waiter& waiter);
  ReachId ReachOf(const Waiter& waiter);
  Refusal OfFleet(const Waiter& waiter);
  Refusal Never(const Waiter& waiter);
  std::optional<Refusal> Scattered(const Waiter& waiter, fleet::View& view, Constraint constraint,
                                   const char* id);
  Refusal Unhealthy(const Waiter& waiter);
  Refusal NoRoom(const Waiter& waiter);
  void NameHolders(const std::map<base::JobId, std::int64_t>& amounts, Refusal& refusal) const;
  void FindKeepers();
  const std::vector<Before>& InTheWayOf(const Waiter& waiter, ReachId reach);
  void NameOutage(Refusal& refusal) const;
  void NameAhead(const Waiter& waiter, ReachId reach, Refusal& refusal);

  const Form& FormOf(const Waiter& waiter) { return desk_.ground.Of(waiter.shape); }

  Desk desk_;
  base::Instant now_;
  std::map<ShapeId, Known> of_shape_;
  Reaches reaches_;
  std::map<ShapeId, ReachId> reach_of_;
  std::vector<Keeper> keepers_;  // in the order of the line
  // By what a gang could use, and its queue; without GPUs: none.
  std::map<std::pair<ReachId, std::string>, std::vector<Before>> in_the_way_;
};

}  // namespace pondage::plan
