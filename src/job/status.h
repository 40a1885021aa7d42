// What the pool says and remembers of a TFJob: Kubeflow's conditions and counts, and our own part.
//
// Everything the machine needs after a restart stands here: load(save(status)) = status. What is
// only reported (progress of a step) may be lost and is reported again.
// Conditions are Kubeflow's; names of `status.pondage` in docs/decisions/0004.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "fleet/demand.h"
#include "job/spec.h"

namespace pondage::job {

struct Condition {
  std::string type;  // Created, Running, Restarting, Succeeded, Failed, Suspended
  bool is_true = true;
  std::string reason;
  std::string message;
  base::Instant updated;
  base::Instant changed;
  bool operator==(const Condition&) const = default;
};

struct Counts {
  int active = 0;
  int succeeded = 0;
  int failed = 0;
  bool operator==(const Counts&) const = default;
};

// How a program ended. The order of `at_monotonic_ms` within one boot is the order of exits.
struct Exit {
  int code = 0;        // as a shell shows it: 128 + n for signal n
  std::string reason;  // Completed, Error, OOMKilled, StoppedWithJob, NodeLost, StartFailed
  std::string message;
  base::Instant at;
  std::int64_t at_monotonic_ms = 0;
  std::string boot_id;
  bool operator==(const Exit&) const = default;
};

enum class Phase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

// One index of one role. Ports and GPUs are part of the bind.
struct Replica {
  Role role = Role::kWorker;
  int index = 0;
  int incarnation = 0;  // Pods made for this index so far; 0: none yet
  Phase phase = Phase::kPending;
  bool present = false;   // its Pod object exists
  bool alive = false;     // a process of it may exist: started or being started, exit not seen
  bool deleting = false;  // its Pod is being deleted (by us or by a user)
  std::optional<base::Instant> delete_by;  // ... by then, when whoever deletes it said so
  bool disrupted = false;  // ... by somebody else, or lost with its node: a disruption
  bool completed = false;  // an exit 0 counted: in replica scope it never runs again (O11)
  int restarts = 0;        // in-place restarts of the present Pod
  std::optional<base::Instant> restart_at;  // in-place restart waits until then
  std::optional<fleet::Grant> grant;
  std::optional<base::Instant> granted;     // since when it holds `grant`: start of its charge
  int port = 0;                             // 0: the job has one replica and needs none
  std::optional<base::Instant> started;     // process running
  std::optional<base::Instant> stop_asked;  // SIGTERM sent
  std::optional<base::Instant> kill_at;     // SIGKILL then, if it is still alive
  bool killed = false;                      // SIGKILL sent
  int streak = 0;                 // short runs that failed in a row: sets the restart delay
  std::optional<Exit> exit;       // of the present Pod's main container
  bool exit_taken = false;        // ... and it was judged: counted, told
  std::optional<Exit> last_exit;  // of the one before
  // Reported by the job's own module; may be lost with the server.
  bool hello = false;
  std::int64_t step = -1;  // -1: none yet
  bool operator==(const Replica&) const = default;

  base::ReplicaId Id(base::JobId job) const { return {job, role, index, incarnation}; }
};

struct Checkpoint {
  std::int64_t step = -1;  // -1: unknown
  base::Instant at;
  std::string path;
  bool operator==(const Checkpoint&) const = default;
};

// An exit after which somebody started again: the first one of a gang's attempt, or that of one
// replica.
struct Past {
  int attempt = 0;
  std::string replica;  // "worker-1"
  Exit exit;
  bool operator==(const Past&) const = default;
};
inline constexpr std::size_t kMostHistory = 10;

// Where the job as a whole stands.
enum class Stage : std::uint8_t {
  kWaiting,   // in its queue; holds nothing
  kBound,     // the gang has its GPUs
  kDraining,  // its replicas are leaving; `drain` says what comes then
  kEnded,     // one terminal condition, no process left
};
enum class Drain : std::uint8_t { kNone, kRestart, kSuspend, kYield, kResize, kFinish, kDelete };

// Why it waits, in the form of a refusal's facts (plan::Refusal), kept as text and numbers.
struct Reason {
  std::string id;          // "PND-Q007"
  std::string constraint;  // "busy"
  std::string message;
  std::int64_t need = 0;
  std::int64_t have = 0;
  std::optional<base::Instant> start_latest;
  std::map<std::string, std::string>
      values;        // of the sentence, so that it can be said in Chinese too
  std::string help;  // cheapest change, as in plan::Refusal
  bool operator==(const Reason&) const = default;
};

// GPUs that are kept for it from a certain time on, as the planner tells and takes them back.
struct Slot {
  base::Instant at;
  std::vector<fleet::Grant> grants;  // GPUs alone
  bool operator==(const Slot&) const = default;
};

struct Status {
  std::vector<Condition> conditions;
  std::map<Role, Counts> counts;
  std::optional<base::Instant> start_time;
  std::optional<base::Instant> completion_time;

  // ours: status.pondage
  Stage stage = Stage::kWaiting;
  Drain drain = Drain::kNone;                   // why it leaves; while it waits: why it left last
  std::optional<base::Instant> drain_deadline;  // SIGKILL for whoever is left
  std::optional<base::Instant> not_before;      // end of the restart delay
  base::Instant queued;                         // its place in the queue; kept over requeues
  std::optional<base::Instant> bound;
  std::optional<Reason> reason;
  std::optional<Slot> slot;  // while it waits
  int attempt = 0;           // binds so far
  int restarts = 0;          // counted against backoffLimit; never falls
  int disruptions = 0;       // counted apart
  int voluntary = 0;         // exits 42 without notice in a row
  int streak = 0;            // short attempts that failed in a row: sets the restart delay
  std::optional<Checkpoint> checkpoint;
  std::optional<base::Instant>
      checkpoint_before;      // newest checkpoint's time when leaving was asked
  std::optional<Exit> cause;  // first exit of the attempt that ended it; of the last such attempt
  std::string cause_replica;  // "worker-1"
  std::vector<Past> history;  // restarts, oldest first; the last kMostHistory of them
  std::string user_stop;      // who asked to stop, when one did
  // Roles in order, index ascending. An index that was scaled in stays as an entry without a Pod,
  // so that its incarnations go on counting.
  std::vector<Replica> replicas;

  bool operator==(const Status&) const = default;
};

// As Kubeflow sets one; behind Failed none is set. True when the list changed.
bool SetCondition(Status& status, const std::string& type, bool is_true, const std::string& reason,
                  const std::string& message, base::Instant now);
const Condition* FindCondition(const Status& status, const std::string& type);
bool IsTrue(const Status& status, const std::string& type);
// When its end was decided; its programs may have brought it about earlier (`completion_time`).
// Requires that it has finished.
base::Instant DecidedAt(const Status& status);
bool IsFinished(const Status& status);  // Succeeded or Failed is True

Replica* FindReplica(Status& status, Role role, int index);

}  // namespace pondage::job
