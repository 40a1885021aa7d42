// One pass of Judge: what it works on and what it says. For the files of the state machine only.
//
// One object, one thread, one pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/exits.h"
#include "job/machine.h"

namespace pondage::job {

// An exit seen for the first time in this pass.
struct Seen {
  Replica* replica;  // into status.replicas, which does not grow during a pass
  Reading reading;
};

struct Pass {
  const Identity& identity;
  const Spec& spec;
  Status& status;
  base::Instant now;
  const Settings& settings;
  Verdict verdict;
  std::vector<Seen> seen;

  void Do(Act act, const Replica& replica) {
    verdict.actions.push_back({act, replica.Id(identity.id), {}, {}, {}});
  }
  // When it ended, by its own word: a server that was away learns it late. A word that cannot be
  // true, since a clock was set, is worth nothing.
  base::Instant EndWithin(base::Instant said, std::optional<base::Instant> since) const {
    return since && *since <= said && said <= now ? said : now;
  }
  void Release(const Replica& replica, std::string why) {
    base::Instant ended = now;
    for (const Seen& one : seen) {
      if (one.replica == &replica) ended = EndWithin(replica.exit->at, replica.granted);
    }
    verdict.actions.push_back({Act::kRelease, replica.Id(identity.id), {}, ended, std::move(why)});
  }
  void Tell(bool warning, std::string reason, std::string message) {
    verdict.notes.push_back({warning, std::move(reason), std::move(message)});
  }
  void WakeAt(base::Instant at) {
    if (at < verdict.wake) verdict.wake = at;
  }
};

// take.cc: exits are judged, told, counted as completed; the new ones are in `seen`.
void TakeExits(Pass& pass);

// Each brings the job forward in one stage, and may bring it to the next.
void Wait(Pass& pass);   // waiting.cc
void Run(Pass& pass);    // running.cc
void Leave(Pass& pass);  // leave.cc
void Clean(Pass& pass);  // finish.cc

// waiting.cc
void ShowSuspended(Pass& pass);
void ShowResumed(Pass& pass);

// leave.cc
bool AnyAlive(const Status& status);
// All are to leave; then comes what `drain` says. Orders go out with Leave.
void BeginLeaving(const Spec& spec, Status& status, Drain drain, base::Instant now);
void CancelRestart(Replica& replica);
void Stop(Pass& pass, Replica& replica, base::Instant deadline);
void Kill(Pass& pass, Replica& replica);
// Its Pod is deleted by a deadline that is nearer than what it was told.
void Hurry(Pass& pass, Replica& replica);
void KillAll(Pass& pass);
// Those who save may leave by themselves until their grace is over.
void LetLeave(Pass& pass);
// Kills those whose time is over; the others wake the job then.
void KillOverdue(Pass& pass);
void RemovePod(Pass& pass, Replica& replica);

// restart.cc
// Whether all end with this one.
bool TakesAllAlong(const Pass& pass, const Seen& seen);
// Which of two ended first; `a` may be null.
const Seen* Earlier(const Seen* a, const Seen* b);
// The exit that ends the attempt of all, the earliest of those seen; none: no such exit.
const Seen* FirstOfAttempt(const Pass& pass);
void RecordCause(Pass& pass, const Replica& replica);
// The newest restart, which is still under way, was caused by this one's exit, which was told late.
void CorrectHistory(Pass& pass, const Replica& replica);
void CountExits(Pass& pass);
// Starts the restarts that the exits seen ask for.
void RestartAfterExits(Pass& pass);
// A restart of all that nobody failed for: they may save first.
void RestartPolitely(Pass& pass, const Replica& because);
// In-place restarts and new Pods whose pause is over.
void StartDue(Pass& pass);
// For a program that starts anew, in its Pod or in a new one.
void Renew(Replica& replica);
void RenewPod(Replica& replica);

// finish.cc
void Succeed(Pass& pass);
// True when the job has failed: an exit seen says so; backoffLimit or deadline is passed.
bool FailAfterExits(Pass& pass);
// The restart under way does not come: its cause, told late, is one that none follows.
void FailInstead(Pass& pass, const Seen& fatal);
bool FailPastLimits(Pass& pass);

}  // namespace pondage::job
