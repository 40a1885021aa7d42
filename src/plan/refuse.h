// Why a gang waits: the one constraint that binds, with its numbers and the cheapest change.
//
// Pure. Explains against what is left after all starts of the plan, so that the reason is true when
// it is read. Single-threaded, made once a plan; work is shared among gangs of equal shape.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/order.h"
#include "plan/plan.h"
#include "plan/rooms.h"

namespace pondage::plan {

class Explainer {
 public:
  // `left`: the rooms after all starts, nothing kept. `queues`: with all starts charged.
  Explainer(const Snapshot& snapshot, const queue::Tree& queues, Rooms& left, base::Instant now);

  // For waiting gangs in their order, each once.
  Refusal Explain(const Waiting& waiting);

 private:
  // What a gang could use, of the machines and GPUs in all_.
  struct Pool {
    std::vector<bool> gpus;
    std::vector<bool> machines;
    auto operator<=>(const Pool&) const = default;
  };
  struct Known {  // of one shape
    Refusal refusal;
    Pool pool;
  };
  struct Waiter {
    std::size_t place = 0;
    base::JobId job;
    std::optional<base::Instant> start_latest;
  };

  std::optional<Refusal> Unready(const Waiting& waiting) const;
  std::optional<Refusal> OverLimit(const Waiting& waiting) const;
  const Known& OfShape(const Waiting& waiting);
  Refusal OfFleet(const Waiting& waiting);
  Refusal Never(const Waiting& waiting);
  Refusal Unhealthy(const Waiting& waiting) const;
  Refusal NoRoom(const Waiting& waiting);
  Pool PoolOf(const Shape& shape) const;
  void NameHolders(const std::map<base::JobId, std::int64_t>& amounts, Refusal& refusal) const;
  std::vector<const std::vector<Waiter>*> Ahead(const Waiting& waiting, const Pool& pool) const;
  void NameAhead(const Waiting& waiting, const Pool& pool, Refusal& refusal) const;
  void Remember(const Waiting& waiting, const Pool& pool);

  const Snapshot& snapshot_;
  const queue::Tree& queues_;
  Rooms& left_;
  Rooms healthy_;  // as if nothing ran
  Rooms all_;      // ... and nothing was broken
  std::map<base::JobId, const Holding*> holdings_;
  std::map<Shape, Known> of_shape_;
  std::map<Pool, std::vector<Waiter>> for_room_;          // who waits for it
  std::map<std::string, std::vector<Waiter>> for_quota_;  // by the level that is full
  std::size_t place_ = 0;
  base::Instant now_;
};

}  // namespace pondage::plan
