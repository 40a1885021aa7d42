// The state machine of one TFJob: what is known of it in, what to do about it out.
//
// Pure. Judge() is called after facts about the job were taken, after it was bound, and whenever
// its `wake` has come. It is idempotent: called again without a new fact it asks for nothing new.
// It changes `status` and says the rest as actions, in the order in which they are to happen: at
// most one decision of success, failure, restart or running a pass.
//
// Who writes what. The caller, for a fact about the present incarnation:
//   started      phase Running, `started`
//   exited       (only while `alive`) alive=false, `exit`, phase Succeeded for code 0, else Failed
//   not started  as exited, reason StartFailed; `disrupted` too when it is no fault of the job
//   node lost    as exited, code 137, reason NodeLost, `disrupted`
//   Pod deleted  deleting, disrupted
// and, carrying kRelease, `grant` = none. Everything else in a Status is written here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/spec.h"
#include "job/status.h"

namespace pondage::job {

struct Settings {
  base::Millis restart_delay{10'000};  // first delay; doubles per restart
  base::Millis restart_delay_max{300'000};
  base::Millis restart_delay_reset{600'000};  // a run of this length starts the doubling anew
  base::Millis finish_linger{5'000};  // a collective's others may end by themselves this long
  base::Millis consequence{15'000};   // exits this close after the first are its consequences
  base::Millis hello_startup_timeout{900'000};  // for members that said hello and report no step
  int max_voluntary = 12;                       // exits 42 without notice in a row
};

// One thing to be done about one replica.
enum class Act : std::uint8_t {
  kStop,     // SIGTERM to the whole tree, SIGKILL at `deadline`
  kKill,     // SIGKILL now
  kStart,    // the Pod exists and is bound: start its program (in-place restart)
  kRemake,   // make and start this Pod, a new incarnation on the same grant and port; the one
             // before was given to kRemove, in this verdict or an earlier one
  kRelease,  // its process is gone and it will not run on this grant again: free it, and its port
             // unless it has finished while the others, who know its address, go on
  kRemove,   // delete Pod and Service objects of this incarnation; no process of it is left
};
struct Action {
  Act act;
  base::ReplicaId replica;
  base::Instant deadline;  // of kStop
  base::Instant ended;     // of kRelease: since when no program used it; not after now
  std::string why;         // ledger's word for kRelease: finished failed restart preempted stopped
};

struct Note {  // an Event on the job
  bool warning = false;
  std::string reason;
  std::string message;
};

struct Verdict {
  std::vector<Action> actions;
  std::vector<Note> notes;
  bool wants_gang = false;  // offer WantedMembers to the planner: a waiting job that nothing holds
                            // back, or (replica scope) a bound one that lacks members
  bool gone = false;        // deletion asked and nothing of it is left: forget it
  base::Instant wake = base::kNever;
};

// `removed`: deletion of the job was asked for.
Verdict Judge(const Identity& identity, const Spec& spec, Status& status, bool removed,
              base::Instant now, const Settings& settings);

// First status of a job that was just stored: condition Created, and Suspended when so created.
Status FirstStatus(const Identity& identity, const Spec& spec, base::Instant now);

// The author changed the spec: what that means beside what a pass sees of the new one. Judge after.
void TakeChange(const Spec& before, const Spec& after, Status& status);

// All of WantedMembers were placed, `grants` and `ports` in that order: new incarnations, alive
// because their start is ordered in the same step. A waiting job becomes bound: attempt counted,
// startTime set. Ask WantedMembers before, to know whose Pods are to be made, and Judge after.
void BindGang(const Spec& spec, Status& status, const std::vector<fleet::Grant>& grants,
              const std::vector<int>& ports, base::Instant now);

// The members a bind must place now, roles in order, index ascending. Indexes that completed in
// replica scope are not among them; those of a bound job are the ones it lacks.
std::vector<std::pair<Role, int>> WantedMembers(const Spec& spec, const Status& status);

// Politely asks the whole job to leave and go back to its queue (preemption).
void AskToYield(const Spec& spec, Status& status, base::Instant now);

// When its time is up, whatever it does; none: it has no limit, or its clock starts with its bind.
// Between the tries of one run it goes on.
std::optional<base::Instant> TimeUp(const Spec& spec, const Status& status);

// When a finished job's object is to be deleted; none: kept.
std::optional<base::Instant> ExpiresAt(const Spec& spec, const Status& status);

}  // namespace pondage::job
