// The job holds its GPUs: one decision a pass, then its replicas are tended.
#include <fmt/format.h>

#include <algorithm>

#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

bool WasTold(const Replica& replica) {
  return replica.stop_asked || replica.kill_at || replica.killed;
}

// What is left of a collective may be one, which knows the others by address all the same.
bool BelongsToAll(const Spec& spec, Role role) {
  if (EndsAttempt(spec, role)) return true;
  return role != Role::kEvaluator && !spec.Has(Role::kPs) && !spec.dynamic_worker &&
         spec.scope != Scope::kReplica;
}

// A gang is as large as its spec says, or it leaves to come back at the new size.
bool IsResized(const Spec& spec, Status& status) {
  for (const Replica& replica : status.replicas) {
    if (replica.present && IsSurplus(spec, replica) && BelongsToAll(spec, replica.role))
      return true;
  }
  for (const auto& [role, replicas] : spec.roles) {
    if (!EndsAttempt(spec, role)) continue;
    for (int index = 0; index < replicas.replicas; ++index) {
      const Replica* replica = FindReplica(status, role, index);
      if (replica == nullptr || (!replica->present && !replica->completed)) return true;
    }
  }
  return false;
}

bool IsOverdue(const Pass& pass, const Replica& replica) {
  return replica.delete_by && *replica.delete_by <= pass.now;
}

// Somebody deletes the Pod under a running program. True: all leave with it.
bool FollowDeletion(Pass& pass, Replica& replica) {
  if (!replica.alive) {
    RemovePod(pass, replica);
    return false;
  }
  if (WasTold(replica) || IsOverdue(pass, replica)) {
    Hurry(pass, replica);
    return false;
  }
  const bool again = PolicyOf(pass.spec, replica.role) != RestartPolicy::kNever;
  if (again && EndsAttempt(pass.spec, replica.role)) {
    RestartPolitely(pass, replica);
    return true;
  }
  Stop(pass, replica, replica.delete_by.value_or(pass.now + GraceOf(pass.spec, replica.role)));
  return false;
}

bool FollowDeletions(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (replica.present && replica.deleting && FollowDeletion(pass, replica)) return true;
  }
  return false;
}

// Scaled in: our own deletion, never a failure.
void DismissSurplus(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!IsSurplus(pass.spec, replica)) continue;
    CancelRestart(replica);
    if (replica.alive && !WasTold(replica)) {
      replica.deleting = true;
      Stop(pass, replica, pass.now + GraceOf(pass.spec, replica.role));
    } else if (!replica.alive && replica.present) {
      RemovePod(pass, replica);
    }
  }
}

// Only who has said hello can be missed; without a word there is no time-out unless
// the author set one.
void KillStuck(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.alive || !replica.started || replica.step >= 0 || WasTold(replica)) continue;
    if (!Leads(pass.spec, replica.role)) continue;
    if (!pass.spec.startup_timeout && !replica.hello) continue;
    const base::Millis patience =
        pass.spec.startup_timeout.value_or(pass.settings.hello_startup_timeout);
    const base::Instant until = *replica.started + patience;
    if (until > pass.now) {
      pass.WakeAt(until);
      continue;
    }
    pass.Tell(true, "StartupTimeout",
              fmt::format("{} has reported no step {} s after its start and is killed",
                          ReplicaName(pass.identity.name, replica.role, replica.index),
                          patience.value / 1000));
    Kill(pass, replica);
  }
}

void ReleaseIdle(Pass& pass) {
  for (const Replica& replica : pass.status.replicas) {
    if (replica.alive || !replica.grant || replica.restart_at) continue;
    const bool dismissed = replica.stop_asked && !replica.disrupted && !replica.completed;
    if (IsSurplus(pass.spec, replica) || dismissed) {
      pass.Release(replica, "stopped");
    } else if (replica.completed) {
      pass.Release(replica, "finished");
    } else {
      pass.Release(replica, replica.disrupted ? "restart" : "failed");
    }
  }
}

// It ran before, and is to be placed anew.
bool WasPlaced(Status& status, const std::pair<Role, int>& member) {
  const Replica* replica = FindReplica(status, member.first, member.second);
  return replica != nullptr && replica->incarnation > 0;
}

// Restarting holds until whoever is made again runs again.
bool IsRecreating(const Pass& pass) {
  if (!IsTrue(pass.status, "Restarting")) return false;
  const auto is_missing = [&](const Replica& replica) {
    if (IsSurplus(pass.spec, replica)) return false;
    return (replica.alive && !replica.started && replica.phase == Phase::kPending) ||
           (replica.restart_at && !replica.present);
  };
  return std::ranges::any_of(pass.status.replicas, is_missing) ||
         std::ranges::any_of(
             WantedMembers(pass.spec, pass.status),
             [&](const std::pair<Role, int>& member) { return WasPlaced(pass.status, member); });
}

void ShowRunning(Pass& pass) {
  Recount(pass.spec, pass.status);
  if (!RunningHolds(pass.spec, pass.status) || IsRecreating(pass)) return;
  SetCondition(pass.status, "Running", true, "TFJobRunning",
               fmt::format("TFJob {} is running.", pass.identity.Path()), pass.now);
}

}  // namespace

// A dynamic worker that failed under Never stays away until the number of workers is changed.
void TakeChange(const Spec& before, const Spec& after, Status& status) {
  if (!after.dynamic_worker) return;
  if (before.Replicas(Role::kWorker) == after.Replicas(Role::kWorker)) return;
  for (Replica& replica : status.replicas) {
    const bool idle = replica.present && !replica.alive && replica.exit_taken;
    if (idle && replica.role == Role::kWorker && !replica.completed) replica.deleting = true;
  }
}

void Run(Pass& pass) {
  Status& status = pass.status;
  Recount(pass.spec, status);
  if (SuccessHolds(pass.spec, status)) return Succeed(pass);
  if (pass.spec.suspend) return BeginLeaving(pass.spec, status, Drain::kSuspend, pass.now);
  ShowResumed(pass);
  if (FailAfterExits(pass)) return;
  CountExits(pass);
  if (FailPastLimits(pass)) return;
  RestartAfterExits(pass);
  if (status.stage != Stage::kBound || FollowDeletions(pass)) return;
  if (IsResized(pass.spec, status)) {
    return BeginLeaving(pass.spec, status, Drain::kResize, pass.now);
  }
  DismissSurplus(pass);
  StartDue(pass);
  KillStuck(pass);
  KillOverdue(pass);
  ReleaseIdle(pass);
  ShowRunning(pass);
  pass.verdict.wants_gang = !WantedMembers(pass.spec, status).empty();
}

}  // namespace pondage::job
