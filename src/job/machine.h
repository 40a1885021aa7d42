// The state machine of one TFJob: what is known of it in, what to do about it out.
//
// Pure. Judge() is called after facts about the job were taken and whenever its `wake` has come; it
// is idempotent: called again without a new fact it asks for nothing new. It changes `status` and
// says the rest as actions, in the order in which they are to happen.
// Source: tfjob.md 10 (one decision a pass), 11, 12; rulings.md section 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/spec.h"
#include "job/status.h"

namespace pondage::job {

struct Settings {
  base::Millis restart_delay{10'000};       // first delay; doubles per restart
  base::Millis restart_delay_max{300'000};
  base::Millis restart_delay_reset{600'000};  // a run of this length starts the doubling anew
  base::Millis finish_linger{5'000};        // a collective's others may end by themselves this long
  base::Millis consequence{15'000};         // exits this close after the first are its consequences
  base::Millis hello_startup_timeout{900'000};  // for members that said hello and report no step
  int max_voluntary = 12;                   // exits 42 without notice in a row
};

// One thing to be done about one replica.
enum class Act : std::uint8_t {
  kStop,     // SIGTERM to the whole tree, SIGKILL at `deadline`
  kKill,     // SIGKILL now
  kStart,    // the Pod exists and is bound: start its program (in-place restart)
  kRemake,   // replica scope: a new Pod for this index on the same grant and port
  kRelease,  // its process is gone and it will not run on this grant again: free it
  kRemove,   // delete Pod and Service objects
};
struct Action {
  Act act;
  base::ReplicaId replica;
  base::Instant deadline;    // of kStop
  std::string why;           // ledger's word for kRelease: finished failed restart preempted stopped
};

struct Note {                // an Event on the job (tfjob.md 16)
  bool warning = false;
  std::string reason;
  std::string message;
};

struct Verdict {
  std::vector<Action> actions;
  std::vector<Note> notes;
  bool wants_gang = false;   // stage is waiting, nothing holds it back: offer it to the planner
  bool gone = false;         // deletion asked and nothing of it is left: forget it
  base::Instant wake = base::kNever;
};

// `removed`: deletion of the job was asked for.
Verdict Judge(const Identity& identity, const Spec& spec, Status& status, bool removed,
              base::Instant now, const Settings& settings);

// First status of a job that was just stored: condition Created, and Suspended when so created.
Status FirstStatus(const Identity& identity, const Spec& spec, base::Instant now);

// The whole gang was placed: new incarnations, grants and ports written into `status.replicas`
// (members in the order of roles and indexes), attempt counted, startTime and resumed condition set.
// Completed indexes of a replica-scope job are skipped by WantedMembers and stay.
void BindGang(const Spec& spec, Status& status, const std::vector<fleet::Grant>& grants,
              const std::vector<int>& ports, base::Instant now, std::vector<Note>& notes);

// The members a bind must place now, roles in order, index ascending.
std::vector<std::pair<Role, int>> WantedMembers(const Spec& spec, const Status& status);

// Politely asks the whole job to leave and go back to its queue (preemption).
void AskToYield(const Identity& identity, const Spec& spec, Status& status, base::Instant now);

// When a finished job's object is to be deleted; none: kept.
std::optional<base::Instant> ExpiresAt(const Spec& spec, const Status& status);

}  // namespace pondage::job
