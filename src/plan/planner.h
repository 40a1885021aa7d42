// The planner: facts about machines, queues, what runs and who waits in; plans out.
//
// Pure; single-threaded, owned by the pool. It keeps what is free, the queue tree and the waiting
// line over its life, so that a fact costs what it changes. Laws (planner_test.cc):
//   1. After any history it plans exactly as a new one does that is told the same state: machines,
//      queues with what they used, what runs, who waits, reservations.
//   2. The order in which it is told changes nothing.
//   3. A cycle leaves no trace but reservations and the verdicts it gave: its starts are carried
//   out
//      by Bind.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"
#include "plan/cycle.h"
#include "plan/explain.h"
#include "plan/ground.h"
#include "plan/line.h"
#include "plan/lost.h"
#include "plan/plan.h"
#include "queue/tree.h"

namespace pondage::plan {

class Planner {
 public:
  explicit Planner(const Policy& policy = {});

  // Machines.
  void SeeNode(fleet::Node node);
  void ForgetNode(std::string_view name);

  // All outages that are known, in any order.
  void SetOutages(std::vector<Outage> outages);

  // Queues.
  void PutQueue(queue::Spec spec);
  void RemoveQueue(std::string_view name);

  // What is typically asked: placing keeps room for it.
  void Expect(const std::vector<Typical>& typical);

  // Who waits. PutAsk replaces what the job asked before; DropAsk of a job that asks nothing is
  // fine.
  void PutAsk(Ask ask);
  void DropAsk(base::JobId job);

  // A member of `holding.job` holds this from now on; queue, user and end are those of the last
  // call. Requires what Fleet::Bind requires.
  void Bind(const Holding& holding, const fleet::Grant& grant, base::Instant now);
  void Release(base::JobId job, const fleet::Grant& grant, base::Instant now);

  // A reservation that was read back after a restart, as Reserved told it. One that no longer fits
  // its ask is dropped.
  struct Slot {
    base::Instant at;
    std::vector<fleet::Grant> grants;  // GPUs alone, by the parts of the gang's shape
    bool operator==(const Slot&) const = default;
  };
  void Restore(base::JobId job, Slot slot);

  // ... and what was used and has not faded, after what runs was bound again.
  void Restore(const queue::Tree::UseOf& use);

  // What of the plan must survive a restart. None: it has no reservation.
  std::optional<Slot> Reserved(base::JobId job) const;

  // What to start now, and whose verdict is news. Nothing to do: an empty plan at once.
  Plan Cycle(base::Instant now);

  // Whether a cycle now could give anything new.
  bool HasNews(base::Instant now) const { return changed_ || now >= wake_; }
  base::Instant wake() const { return wake_; }
  // The next cycle walks the whole line, though nothing was told: a start was not carried out.
  void Reconsider() { Touch(); }

  // What would become of this ask if it were put now. Leaves no trace.
  struct Preview {
    std::optional<Placement> start;
    Refusal refusal;  // where it does not start
  };
  Preview Try(Ask ask, base::Instant now);

  // The next cycle plans as the first one would: nothing is taken as known, reservations are made
  // anew.
  void Forget();

  // The whole reason why a job waits. Requires that it does; asked after Cycle, and after its
  // starts were bound.
  Refusal Explain(base::JobId job);

  // Everybody who waits, in the order of the last cycle; those held last, by arrival.
  std::vector<base::JobId> InOrder();

  // How often the line was walked, for numbers and tests.
  std::int64_t walks() const { return walks_; }

  const Policy& policy() const { return policy_; }
  const fleet::Fleet& fleet() const { return fleet_; }
  const queue::Tree& queues() const { return queues_; }
  const std::map<base::JobId, Holding>& holdings() const { return holdings_; }
  const std::map<base::JobId, Reservation>& reservations() const { return reservations_; }
  const std::map<base::JobId, Waiter>& waiters() const { return line_.waiters(); }

 private:
  void MachineChanged();
  void Touch();
  void Rebuild();
  void SeatRestored();
  std::optional<Reservation> Seated(const Waiter& waiter, const Slot& slot);
  std::vector<base::JobId> TakeMoved();
  Desk DeskOf();

  Policy policy_;
  fleet::Fleet fleet_;
  queue::Tree queues_;
  Ground ground_;
  Line line_;
  Lost lost_;
  std::map<base::JobId, Holding> holdings_;
  std::map<base::JobId, Reservation> reservations_;
  std::map<std::string, int> arrays_;     // of each, jobs that run
  std::vector<Outage> outages_;           // ascending
  std::map<base::JobId, Slot> restored_;  // to become reservations in the next cycle
  std::set<base::JobId> slotted_;         // who has one, as the host knows
  std::set<base::JobId> fresh_;           // asked since the last cycle
  bool rebuild_ = true;                   // the set of machines changed
  bool changed_ = true;                   // something a plan depends on
  base::Instant now_;                     // of the last cycle
  std::int64_t walks_ = 0;
  // Starts of the last cycle, and how many members are still to be bound. Carried out as planned
  // they are no news.
  std::map<base::JobId, std::size_t> expected_;
  base::Instant wake_ = base::kNever;
  std::optional<Explainer> explainer_;
};

}  // namespace pondage::plan
