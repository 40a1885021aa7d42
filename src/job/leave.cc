// Replicas leave: who is asked first, who is killed, and what comes once all are gone.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

// ps and workers only serve: once those who save are gone they have nothing left to do.
constexpr base::Millis kFollowerGrace{5'000};

bool LeadersAlive(const Pass& pass) {
  return std::ranges::any_of(pass.status.replicas, [&](const Replica& replica) {
    return replica.alive && Leads(pass.spec, replica.role);
  });
}

bool IsSuccess(const Status& status) {
  return status.drain == Drain::kFinish && IsTrue(status, "Succeeded");
}

// The members of a collective that has succeeded end by themselves, a moment after the first.
base::Instant EndOfLinger(const Pass& pass) {
  if (!IsSuccess(pass.status) || !IsCollective(pass.spec)) return pass.now;
  REQUIRE(pass.status.completion_time.has_value());
  return *pass.status.completion_time + pass.settings.finish_linger;
}

base::Instant DeadlineOf(const Pass& pass, Role role) {
  const Status& status = pass.status;
  const base::Instant own = pass.now + GraceOf(pass.spec, role);
  const bool evaluates_last = role == Role::kEvaluator && status.drain == Drain::kFinish;
  if (pass.spec.Has(Role::kPs) && !Leads(pass.spec, role) && !evaluates_last) {
    return std::min(own, pass.now + kFollowerGrace);
  }
  // One deadline for all who save together: the longest grace among them.
  const bool ahead = status.drain_deadline && *status.drain_deadline > pass.now;
  return ahead && !IsSuccess(status) ? *status.drain_deadline : own;
}

// Nothing has been said to this one yet.
void AskToLeave(Pass& pass, Replica& replica, bool leaders_alive) {
  const base::Instant lingers = EndOfLinger(pass);
  if (lingers > pass.now) return pass.WakeAt(lingers);
  const bool leads = Leads(pass.spec, replica.role);
  if (leaders_alive && !leads && pass.spec.Has(Role::kPs)) return;
  // A program that has not reached its first step can neither react nor has it anything to save.
  if (leads && replica.hello && replica.step < 0) return Kill(pass, replica);
  Stop(pass, replica, DeadlineOf(pass, replica.role));
}

std::string WordOf(const Status& status) {
  switch (status.drain) {
    case Drain::kRestart:
    case Drain::kResize:
      return "restart";
    case Drain::kYield:
      return "preempted";
    case Drain::kFinish:
      return IsTrue(status, "Succeeded") ? "finished" : "failed";
    case Drain::kNone:
    case Drain::kSuspend:
    case Drain::kDelete:
      break;
  }
  return "stopped";
}

// Of the exits seen that may be what the job failed or restarts by, the first.
const Seen* FirstSeen(const Pass& pass, bool failed) {
  const Seen* first = nullptr;
  for (const Seen& seen : pass.seen) {
    const Exit& exit = *seen.replica->exit;
    if (exit.code == 0 || pass.status.cause->at - exit.at > pass.settings.consequence) continue;
    const bool counts =
        TakesAllAlong(pass, seen) || (failed && seen.reading.meaning == Meaning::kFatal);
    if (counts) first = Earlier(first, &seen);
  }
  return first;
}

// An exit that came late may have happened first: then it is the cause, and decides. A failure is
// not taken back.
void CorrectCause(Pass& pass) {
  Status& status = pass.status;
  const bool failed = status.drain == Drain::kFinish && IsTrue(status, "Failed");
  if ((!failed && status.drain != Drain::kRestart) || !status.cause) return;
  const Seen* first = FirstSeen(pass, failed);
  if (first == nullptr || !IsEarlier(*first->replica->exit, *status.cause)) return;
  RecordCause(pass, *first->replica);
  if (failed) return;
  CorrectHistory(pass, *first->replica);
  if (first->reading.meaning == Meaning::kFatal) FailInstead(pass, *first);
}

// All of them are gone: old Pods go too, new ones come with the next bind.
void BackToQueue(Pass& pass) {
  Status& status = pass.status;
  for (Replica& replica : status.replicas) {
    const bool stays = replica.completed && StaysFinished(pass.spec, replica.role) &&
                       !IsSurplus(pass.spec, replica);
    if (replica.present && (!stays || status.drain == Drain::kSuspend)) RemovePod(pass, replica);
    if (!stays) replica.completed = false;
  }
  if (status.drain != Drain::kRestart) ShowSuspended(pass);
  status.stage = Stage::kWaiting;
  status.drain_deadline.reset();
  status.bound.reset();
}

void Settle(Pass& pass) {
  Status& status = pass.status;
  switch (status.drain) {
    case Drain::kDelete:
      for (Replica& replica : status.replicas) {
        if (replica.present) RemovePod(pass, replica);
      }
      pass.verdict.gone = true;
      return;
    case Drain::kFinish:
      status.stage = Stage::kEnded;
      status.drain_deadline.reset();
      return;
    default:
      return BackToQueue(pass);
  }
}

}  // namespace

bool AnyAlive(const Status& status) {
  return std::ranges::any_of(status.replicas, [](const Replica& replica) { return replica.alive; });
}

void BeginLeaving(const Spec& spec, Status& status, Drain drain, base::Instant now) {
  REQUIRE(status.stage != Stage::kDraining);
  status.stage = Stage::kDraining;
  status.drain = drain;
  status.drain_deadline = now + LongestGrace(spec);
  status.checkpoint_before.reset();
  if (status.checkpoint) status.checkpoint_before = status.checkpoint->at;
  for (Replica& replica : status.replicas) CancelRestart(replica);
}

// A restart that will not come: the exit before it stands.
void CancelRestart(Replica& replica) {
  if (!replica.restart_at) return;
  replica.restart_at.reset();
  if (!replica.present || replica.exit) return;
  replica.exit = replica.last_exit;
  replica.exit_taken = true;
  replica.phase = Phase::kFailed;
}

void AskToYield(const Spec& spec, Status& status, base::Instant now) {
  if (status.stage == Stage::kBound) BeginLeaving(spec, status, Drain::kYield, now);
}

void Stop(Pass& pass, Replica& replica, base::Instant deadline) {
  REQUIRE(replica.alive && !replica.stop_asked);
  replica.stop_asked = pass.now;
  replica.kill_at = deadline;
  pass.verdict.actions.push_back({Act::kStop, replica.Id(pass.identity.id), deadline, {}, {}});
  pass.WakeAt(deadline);
}

void Kill(Pass& pass, Replica& replica) {
  if (!replica.alive || replica.killed) return;
  replica.killed = true;
  pass.Do(Act::kKill, replica);
}

void Hurry(Pass& pass, Replica& replica) {
  if (!replica.alive || !replica.deleting || !replica.delete_by) return;
  if (*replica.delete_by <= pass.now) return Kill(pass, replica);
  if (!replica.kill_at || *replica.delete_by < *replica.kill_at) {
    replica.kill_at = replica.delete_by;
  }
}

void KillAll(Pass& pass) {
  for (Replica& replica : pass.status.replicas) Kill(pass, replica);
}

void LetLeave(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.alive || replica.kill_at || !Leads(pass.spec, replica.role)) continue;
    replica.kill_at = pass.status.drain_deadline;
  }
}

void KillOverdue(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.alive || replica.killed || !replica.kill_at) continue;
    if (*replica.kill_at <= pass.now) {
      Kill(pass, replica);
    } else {
      pass.WakeAt(*replica.kill_at);
    }
  }
}

void RemovePod(Pass& pass, Replica& replica) {
  REQUIRE(replica.present && !replica.alive);
  pass.Do(Act::kRemove, replica);
  replica.present = false;
  replica.deleting = false;
  replica.delete_by.reset();
}

void Leave(Pass& pass) {
  Status& status = pass.status;
  CorrectCause(pass);
  if (status.drain != Drain::kFinish && status.drain != Drain::kDelete) {
    Recount(pass.spec, status);
    // One that exits 0 when asked to leave had finished in that moment.
    if (SuccessHolds(pass.spec, status)) Succeed(pass);
  }
  const bool leaders_alive = LeadersAlive(pass);
  for (Replica& replica : status.replicas) {
    const bool told = replica.stop_asked || replica.kill_at || replica.killed;
    if (replica.alive && !told) AskToLeave(pass, replica, leaders_alive);
    if (!replica.alive && replica.grant) pass.Release(replica, WordOf(status));
    Hurry(pass, replica);
  }
  KillOverdue(pass);
  if (!AnyAlive(status)) Settle(pass);
}

}  // namespace pondage::job
