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

namespace pondage::plan {

class Explainer {
 public:
  Explainer(Desk desk, base::Instant now);

  Refusal Explain(const Waiter& waiter);

 private:
  // What a gang could use, of all machines and GPUs.
  struct Pool {
    std::vector<bool> gpus;
    std::vector<bool> machines;
    auto operator<=>(const Pool&) const = default;
  };
  struct Known {  // of one shape
    Refusal refusal;
    Pool pool;
  };
  // Jobs of one cohort that keep something from later ones.
  struct Keeper {
    const Cohort* cohort = nullptr;
    std::size_t from = 0;
    std::size_t to = 0;
    std::optional<base::Instant> starts;  // the first of them
    bool all_start = false;               // it is known when each of them starts
  };

  std::optional<Refusal> Unready(const Waiter& waiter);
  std::optional<Refusal> OverLimit(const Waiter& waiter);
  std::optional<Refusal> OverUserLimit(const Waiter& waiter);
  const Known& OfShape(const Waiter& waiter);
  Refusal OfFleet(const Waiter& waiter);
  Refusal Never(const Waiter& waiter);
  std::optional<Refusal> Scattered(const Waiter& waiter, fleet::View& view, Constraint constraint,
                                   const char* id);
  Refusal Unhealthy(const Waiter& waiter);
  Refusal NoRoom(const Waiter& waiter);
  Pool PoolOf(const Shape& shape) const;
  void NameHolders(const std::map<base::JobId, std::int64_t>& amounts, Refusal& refusal) const;
  void FindKeepers();
  std::vector<const Keeper*> Ahead(const Waiter& waiter, const Pool& pool) const;
  void NameOutage(Refusal& refusal) const;
  void NameAhead(const Waiter& waiter, const Pool& pool, Refusal& refusal) const;

  const Form& FormOf(const Waiter& waiter) { return desk_.ground.Of(waiter.shape); }

  Desk desk_;
  base::Instant now_;
  std::map<ShapeId, Known> of_shape_;
  std::map<Pool, std::vector<Keeper>> for_room_;          // who waits for it
  std::map<std::string, std::vector<Keeper>> for_quota_;  // by the level that is full
};

}  // namespace pondage::plan
