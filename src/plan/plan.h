// What the planner is asked and what it answers: gangs that wait, a plan, reasons.
//
// Values. A plan can be printed or refused before it is carried out; it binds whole gangs only.
// plan/planner.h makes them. The rules (docs/decisions/0020):
//   1. Order: gangs inside their queue's guarantee, least saturated queue first; then queues by
//   what
//      they used, faded, per weight; in a queue priority, then users by what they used, then one
//      user's own jobs by size with ageing; then arrival, id.
//   2. A gang starts when it fits its queue's limits at every level and the free GPUs, and delays
//   no
//      earlier waiting gang. Where hard limits tell when that one starts, it has a reservation: the
//      exact GPUs from a certain time on. A gang that ends before may use them meanwhile. Where
//      they do not tell, it keeps all that it could use: GPUs, and cores where those are what it
//      waits for. A gang at a queue's limit keeps the room under that limit. Gangs that wait for no
//      other job (held, no such queue, never fitting, machines out of service) keep nothing.
//   3. A reservation is state: it moves later only for a gang before it in the order, or when what
//      it stands on is gone.
//   4. The search is complete for gangs of equal members. For mixed ones it gives up after a fixed
//      number of steps, and the refusal says so (`proven`).
//   5. Each refusal names the constraint that binds after all starts of this plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "fleet/demand.h"
#include "fleet/fleet.h"
#include "plan/policy.h"
#include "queue/tree.h"

namespace pondage::plan {

// `count` members of one role that ask for the same.
struct Group {
  base::Role role = base::Role::kWorker;
  int count = 0;
  fleet::Demand demand;

  bool operator==(const Group&) const = default;
};

// Machines that belong together: those with the same value of a label, or single machines
// (kNodeLevel).
inline constexpr const char* kNodeLevel = "node";
struct Topology {
  std::string level;      // label; empty: no matter where
  bool required = false;  // all in one domain, or it waits; else as few domains as can be had

  auto operator<=>(const Topology&) const = default;
};

// Something that is no machine's, and without which a gang cannot start.
struct Lack {
  std::string what;      // "PersistentVolumeClaim results"
  std::string where;     // its namespace
  bool leaving = false;  // it is there, and being deleted

  bool operator==(const Lack&) const = default;
};

// A gang that wants to start: all its members or nothing.
struct Ask {
  base::JobId job;
  std::string queue;
  int priority = 0;
  base::Instant arrived;      // when it first stood in its queue; kept over requeues
  std::vector<Group> groups;  // in the order of base::Role
  int missing = 0;            // members the gang wants beyond its replicas (minAvailable)
  bool held = false;          // suspended, or waiting out a restart delay
  std::optional<base::Instant> not_before;  // end of a restart delay, when that is why it is held
  std::optional<Lack> lack;                 // what has to be there first
  std::optional<base::Millis> limit;        // hard run-time limit
  std::optional<base::Instant> ends_by;     // its time runs already, and is up then
  std::string user;
  // How long it will run, as far as anybody knows: by its progress, else its limit, else its
  // history. Orders one user's own jobs; promises nothing.
  std::optional<base::Millis> remaining;
  std::int64_t attained = 0;  // milli-GPU x ms it has received
  bool replaces = false;      // members of a gang that runs
  Topology topology;
  std::vector<std::string> avoid;  // machines that it is not to be placed on; ascending
  // It also takes a shorter time than its limit, down to this, if it can start at once: the longest
  // that delays nobody.
  std::optional<base::Millis> min_time;
  // Jobs of one array run so many at a time; empty: it belongs to none.
  std::string array;
  int throttle = 0;

  bool operator==(const Ask&) const = default;
};

// Why a gang waits.
enum class Constraint : std::uint8_t {
  kNever,       // no present machine or limit can ever satisfy it
  kLimit,       // a queue's limit, at a named level
  kBusy,        // not enough free
  kFragmented,  // enough free, but not together
  kOrder,       // it would fit, but an earlier job waits for the same
  kHeld,        // suspended, held queue, restart delay
  kNoQueue,     // the queue it names does not exist
  kUnhealthy,   // the nodes that could hold it are cordoned or lost
  kReserved,    // it would fit, but an earlier job starts there before this one ends
  kIncomplete,  // minAvailable is larger than the sum of its replicas
  kThrottled,   // as many of its array run as may
  kAbsent,      // it needs an object that does not exist
};

// The binding constraint of one waiting gang, with the numbers a sentence needs. Quantities in
// whole GPUs unless said otherwise; 0 and empty mean "does not apply".
struct Refusal {
  base::JobId job;
  Constraint constraint = Constraint::kBusy;
  std::string id;               // "PND-Q007": frozen, see the message catalogue
  std::string resource;         // "gpu", "cpu" (milli), "memory" (bytes), "type", "label", "quota"
  std::string where;            // queue or node that binds; namespace (absent)
  std::string what;             // that does not exist (absent)
  std::int64_t need = 0;        // what the gang asks of that resource, in all
  std::int64_t have = 0;        // what is free (busy, fragmented), or the largest possible (never)
  std::int64_t limit = 0;       // of the queue named in `where`
  std::int64_t used = 0;        // there
  std::int64_t block = 0;       // largest part free together on one node (fragmented)
  std::int64_t block_need = 0;  // largest part one member needs together
  std::vector<base::JobId> holders;  // who holds most of it, largest first, at most three
  std::vector<base::JobId> ahead;    // earlier in order and waiting too, at most three
  int ahead_count = 0;
  std::vector<std::string> present;  // GPU types of the fleet (never: type)
  // When that may change: first end, by limits, of a job that holds what it waits for; end of its
  // restart delay (held); start of the job ahead (reserved).
  std::optional<base::Instant> until;
  // By hard limits, if nobody ahead starts elsewhere than foreseen; none: unknown.
  std::optional<base::Instant> start_latest;
  bool proven = true;  // false: the search for a mixed gang ended at its step budget

  // The cheapest change that would start it now (never: that would let it start at all), as words
  // `key=value` with one space between: `workers=N` (worker replicas), `gpus=N` (for each of them),
  // `total=N` (GPUs of the whole gang), `type=any`, `labels=none`, `uncordon=NODE`. Empty: none
  // known.
  std::string help;

  bool operator==(const Refusal&) const = default;
};

struct Placement {
  base::JobId job;
  std::vector<fleet::Grant> grants;   // one a member: groups in order, members 0..count-1
  std::optional<base::Millis> limit;  // what it asked, or less where it takes less (min_time)
};

struct Plan {
  std::vector<Placement> start;  // in the order in which they were decided
  // MakePlan: one for every ask that does not start, in queue order. A cycle of the planner: those
  // whose verdict is new, with job, constraint, need and have alone; Explain tells the rest.
  std::vector<Refusal> wait;
  // A cycle of the planner: whose reservation is not what it was (Planner::Reserved). Ascending.
  std::vector<base::JobId> moved;
  // When time alone may change the plan; kNever: only facts do.
  base::Instant wake = base::kNever;
};

// A gang that runs: who holds what until when, for reasons and expected starts.
struct Holding {
  base::JobId job;
  std::string queue;
  int gpus = 0;
  std::optional<base::Instant> ends_by;  // by its hard limit
  std::string user;
  std::string array;
  std::vector<std::string> nodes;  // where; the planner fills it in
};

// A machine that is taken out of service for a time: nothing is planned there that would not have
// ended before.
struct Outage {
  std::string node;
  base::Instant from;
  base::Instant to = base::kNever;

  auto operator<=>(const Outage&) const = default;
};

struct Snapshot {
  const fleet::Fleet& fleet;
  const queue::Tree& queues;
  const std::vector<Ask>& asks;          // any order
  const std::vector<Holding>& holdings;  // any order
};

Plan MakePlan(const Snapshot& snapshot, base::Instant now, const Policy& policy = {});

// One sentence in English for a refusal, for logs, events and status messages. It names no jobs;
// plan/sentence.h does, in both languages.
std::string Sentence(const Refusal& refusal);
const char* ConstraintName(Constraint constraint);  // "never", "limit", ...

}  // namespace pondage::plan
