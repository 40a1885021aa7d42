// The pool: a deterministic machine. Facts in, decisions out; no IO, no clock, no thread.
//
// Single-threaded, owned by its host (embedded server, operator, simulator), which hosts it
// unchanged. Invariants (the laws of docs/decisions/0001, checked by CheckLaws in every tier):
//   1. Same facts at the same instants, same decisions, to the byte.
//   2. No GPU is bound twice; a gang is bound whole or not at all.
//   3. What must survive a restart stands in job::Status, and what queues and their users used is
//      told by SetUse: loading all of it into a new pool and stepping gives the decisions this one
//      would have given.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "job/machine.h"
#include "ledger/ledger.h"
#include "plan/planner.h"
#include "plan/sentence.h"
#include "pool/decision.h"
#include "pool/fact.h"
#include "queue/tree.h"

namespace pondage::pool {

struct Settings {
  job::Settings job;
  int first_port = 20000;  // below the ephemeral range; a fresh set per bind
  int last_port = 29999;
  plan::Policy plan;
};

// A job as the pool holds it.
struct JobView {
  job::Identity identity;
  job::Spec spec;
  job::Status status;
  bool removed = false;               // deletion was asked for
  std::optional<job::Lack> lack;      // why it would not start whatever is free
  base::Instant wake = base::kNever;  // when it wants to be judged again
  // When its reason was last refreshed; none: as it was loaded.
  std::optional<base::Instant> reason_at;
  base::Instant progress_at{0};  // when a reported step last counted as a change
};

class Pool {
 public:
  explicit Pool(Settings settings);

  // Takes the facts in order, then decides. `now` never goes back by itself: an earlier instant
  // than the last is taken as the last.
  std::vector<Decision> Step(std::span<const Fact> facts, base::Instant now);

  // Takes facts into memory without deciding: what a host read from its store at start. The next
  // Step decides what there is to decide.
  void Remember(std::span<const Fact> facts);

  // The status this job would have if it were applied now: placed, or with the reason why not.
  job::Status Preview(const job::Identity& identity, const job::Spec& spec,
                      const std::optional<job::Lack>& lack, base::Instant now) const;

  const JobView* Find(base::JobId id) const;
  const std::map<base::JobId, JobView>& jobs() const { return jobs_; }
  const fleet::Fleet& fleet() const { return planner_->fleet(); }
  const queue::Tree& queues() const { return planner_->queues(); }
  const ledger::Ledger& ledger() const { return ledger_; }
  const plan::Planner& planner() const { return *planner_; }
  // What jobs hold of which nothing else is known.
  struct Kept {
    std::string path;
    std::vector<fleet::Grant> grants;
  };
  const std::map<base::JobId, Kept>& kept() const { return kept_; }

 private:
  friend class Taker;  // take.cc: one overload per fact

  void Take(const Fact& fact, base::Instant now);
  void JudgeTouched(base::Instant now, std::vector<Decision>& out);
  void Carry(JobView& job, const job::Verdict& verdict, base::Instant now,
             std::vector<Decision>& out);
  void Do(JobView& job, const job::Action& action, base::Instant now, std::vector<Decision>& out);
  void PlanWaiting(base::Instant now, std::vector<Decision>& out);
  void Bind(JobView& job, const plan::Placement& placement, base::Instant now,
            std::vector<Decision>& out);
  // True: it is another reason than before.
  bool Refuse(JobView& job, const plan::Refusal& refusal, base::Instant now);
  void RefreshReasons(base::Instant now);
  void WriteStatuses(std::vector<Decision>& out);
  void Resume(base::Instant now, std::vector<Decision>& out);
  void KeepSlots(const std::vector<base::JobId>& moved);
  void DropDeparted();
  void Hold(const JobView& job, const job::Replica& replica, base::Instant now);
  void ExpectNode(const fleet::Grant& grant);
  void Release(JobView& job, job::Replica& replica, const job::Action& action, base::Instant now,
               std::vector<Decision>& out);
  // ports.cc
  std::size_t PortsWanted(const JobView& job) const;
  std::optional<std::vector<int>> TakePorts(const JobView& job, std::size_t count,
                                            base::Instant now) const;
  void GivePorts(JobView& job, std::span<const int> ports);
  void FreePort(job::Replica& replica);
  void FreePorts(JobView& job);
  void LackPorts(JobView& job, std::size_t count, base::Instant now);
  void NoteStranger(int port, base::Instant now);
  // What others are called where `reader`'s owner reads of them: another name space and another
  // user are told.
  plan::NameOf NamesFor(const JobView& reader) const;
  plan::Ask AskOf(const JobView& job, base::Instant now) const;
  plan::Holding HoldingOf(const JobView& job) const;
  void Touch(base::JobId id) { touched_.insert(id); }

  Settings settings_;
  base::Instant last_{0};
  // Machines, queues, what is held and who waits, kept where plans are made. Who is in the queue,
  // or is bound and lacks members, stands there with what it asked when it was last judged, which
  // is whenever something it depends on changes.
  std::unique_ptr<plan::Planner> planner_;
  ledger::Ledger ledger_;
  std::map<base::JobId, JobView> jobs_;
  std::map<base::JobId, Kept> kept_;
  std::map<base::JobId, job::Status> written_;  // as of the last SetStatus, to see what changed
  std::set<base::JobId> touched_;               // to be judged in this step
  std::set<base::JobId> unheard_;               // not to be judged yet (ProgramsUnheard)
  std::set<base::JobId> changed_;               // judged in this step: its status may be news
  std::set<std::string> used_;                  // queues whose use changed in this step
  std::optional<base::Instant> planned_;        // before the restart, until the first step
  std::optional<base::Instant> walked_;         // in this step
  std::set<base::JobId> wants_;  // of those that wait: nothing of their own holds them back
  // Who waits, by when its reason was last told in full: the oldest are refreshed first.
  std::set<std::pair<base::Instant, base::JobId>> told_;
  std::set<base::JobId> departed_;  // ended or gone: dropped when the next step begins
  std::set<std::pair<base::Instant, base::JobId>> wakes_;
  std::set<int> ports_;                        // of replicas
  std::map<int, base::Instant> strangers_;     // found taken by somebody else: not before then
  base::Instant ports_return_ = base::kNever;  // when a gang that lacks ports may find some
};

// The laws of design: broken ones, each a sentence; empty when all hold.
std::vector<std::string> BrokenLaws(const Pool& pool);

}  // namespace pondage::pool
