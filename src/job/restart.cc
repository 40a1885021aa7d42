// Who starts again after an exit, in which Pod, and after which pause (docs/decisions/0011).
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

bool IsLost(const Replica& replica) {
  return replica.exit && replica.exit->reason == "NodeLost";
}

// The exit that counts when several were seen at once: the earliest; of equals the fatal one.
bool ComesBefore(const Seen& a, const Seen& b) {
  if (IsEarlier(*a.replica->exit, *b.replica->exit)) return true;
  if (IsEarlier(*b.replica->exit, *a.replica->exit)) return false;
  return a.reading.meaning == Meaning::kFatal && b.reading.meaning != Meaning::kFatal;
}

void Count(Pass& pass, const Seen& seen) {
  Status& status = pass.status;
  if (!seen.reading.counted) {
    ++status.disruptions;
    return;
  }
  ++status.restarts;
  if (seen.reading.voluntary) {
    ++status.voluntary;
  } else if (Leads(pass.spec, seen.replica->role)) {
    status.voluntary = 0;
  }
}

// The pause before the next try; a long run starts the doubling anew. Disruptions have none.
base::Millis PauseAfter(const Pass& pass, const Seen& seen, std::optional<base::Instant> began,
                        int& streak) {
  if (!seen.reading.counted) return base::Millis{0};
  const base::Instant ended = seen.replica->exit->at;
  if (began && ended - *began >= pass.settings.restart_delay_reset) streak = 0;
  return RestartDelay(streak++, pass.settings);
}

void ShowRestarting(Pass& pass, Role role) {
  const std::string text = fmt::format("job {} is restarting because {} replica(s) failed.",
                                       pass.identity.name, RoleName(role));
  SetCondition(pass.status, "Restarting", true, "TFJobRestarting", text, pass.now);
  pass.Tell(true, "TFJobRestarting", text);
}

Past PastOf(const Pass& pass, const Replica& replica) {
  return {.attempt = pass.status.attempt,
          .replica = fmt::format("{}-{}", RoleLabel(replica.role), replica.index),
          .exit = *replica.exit};
}

void Remember(Pass& pass, const Replica& replica) {
  std::vector<Past>& history = pass.status.history;
  if (history.size() >= kMostHistory) history.erase(history.begin());
  history.push_back(PastOf(pass, replica));
}

void RestartAll(Pass& pass, const Seen& first) {
  Status& status = pass.status;
  RecordCause(pass, *first.replica);
  Remember(pass, *first.replica);
  ShowRestarting(pass, first.replica->role);
  const base::Millis pause = PauseAfter(pass, first, status.bound, status.streak);
  status.not_before.reset();
  if (pause.value > 0) status.not_before = pass.now + pause;
  BeginLeaving(pass.spec, status, Drain::kRestart, pass.now);
  if (first.reading.voluntary) {
    LetLeave(pass);
  } else {
    KillAll(pass);
  }
}

void RestartInPlace(Pass& pass, const Seen& seen) {
  Replica& replica = *seen.replica;
  Remember(pass, replica);
  replica.restart_at = pass.now + PauseAfter(pass, seen, replica.started, replica.streak);
  replica.last_exit = replica.exit;
  replica.exit.reset();
  replica.exit_taken = false;
  replica.phase = Phase::kRunning;  // as a kubelet shows it
  ++replica.restarts;
}

void RestartInNewPod(Pass& pass, const Seen& seen) {
  Replica& replica = *seen.replica;
  Remember(pass, replica);
  RemovePod(pass, replica);
  if (IsLost(replica)) return;  // without its node it is placed anew, as a member that lacks
  replica.restart_at = pass.now + PauseAfter(pass, seen, replica.started, replica.streak);
}

}  // namespace

// A lost node takes grant and address with it: members that others know by address, or the last
// ones alive, cannot be placed anew alone.
bool TakesAllAlong(const Pass& pass, const Seen& seen) {
  if (seen.reading.meaning != Meaning::kAgain && seen.reading.meaning != Meaning::kFatal) {
    return false;
  }
  if (EndsAttempt(pass.spec, seen.replica->role)) return true;
  if (!IsLost(*seen.replica) || seen.replica->role == Role::kEvaluator) return false;
  return pass.spec.Has(Role::kPs) || !AnyAlive(pass.status);
}

const Seen* Earlier(const Seen* a, const Seen* b) {
  return a == nullptr || ComesBefore(*b, *a) ? b : a;
}

const Seen* FirstOfAttempt(const Pass& pass) {
  const Seen* first = nullptr;
  for (const Seen& seen : pass.seen) {
    if (TakesAllAlong(pass, seen)) first = Earlier(first, &seen);
  }
  return first;
}

void RecordCause(Pass& pass, const Replica& replica) {
  REQUIRE(replica.exit.has_value());
  pass.status.cause = replica.exit;
  pass.status.cause_replica = fmt::format("{}-{}", RoleLabel(replica.role), replica.index);
}

void CorrectHistory(Pass& pass, const Replica& replica) {
  REQUIRE(replica.exit.has_value());
  if (pass.status.history.empty() || pass.status.history.back().attempt != pass.status.attempt) {
    return;
  }
  pass.status.history.back() = PastOf(pass, replica);
}

void CountExits(Pass& pass) {
  const Seen* first = FirstOfAttempt(pass);
  for (const Seen& seen : pass.seen) {
    if (seen.reading.meaning != Meaning::kAgain) continue;
    // Exits beside the first of an attempt are its consequences.
    if (&seen == first || !TakesAllAlong(pass, seen)) Count(pass, seen);
  }
}

void RestartAfterExits(Pass& pass) {
  if (const Seen* first = FirstOfAttempt(pass)) return RestartAll(pass, *first);
  std::optional<Role> named;
  for (const Role role : kNamingOrder) {
    for (const Seen& seen : pass.seen) {
      if (seen.replica->role != role || seen.reading.meaning != Meaning::kAgain) continue;
      if (seen.reading.in_place) {
        RestartInPlace(pass, seen);
        continue;
      }
      RestartInNewPod(pass, seen);
      if (!named) named = role;
    }
  }
  if (named) ShowRestarting(pass, *named);
}

void RestartPolitely(Pass& pass, const Replica& because) {
  ++pass.status.disruptions;
  pass.status.cause.reset();
  pass.status.cause_replica.clear();
  ShowRestarting(pass, because.role);
  BeginLeaving(pass.spec, pass.status, Drain::kRestart, pass.now);
  if (because.delete_by) pass.status.drain_deadline = because.delete_by;
}

void StartDue(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.restart_at) continue;
    if (*replica.restart_at > pass.now) {
      pass.WakeAt(*replica.restart_at);
    } else if (replica.present) {
      Renew(replica);
      pass.Do(Act::kStart, replica);
    } else {
      RenewPod(replica);
      pass.Do(Act::kRemake, replica);
    }
  }
}

void Renew(Replica& replica) {
  REQUIRE(!replica.alive);
  if (replica.exit) replica.last_exit = replica.exit;
  replica.exit.reset();
  replica.exit_taken = false;
  replica.alive = true;
  replica.deleting = replica.disrupted = replica.killed = false;
  replica.delete_by.reset();
  replica.restart_at.reset();
  replica.started.reset();
  replica.stop_asked.reset();
  replica.kill_at.reset();
  replica.hello = false;
  replica.step = -1;
}

void RenewPod(Replica& replica) {
  REQUIRE(!replica.present);
  Renew(replica);
  ++replica.incarnation;
  replica.present = true;
  replica.phase = Phase::kPending;
  replica.completed = false;
  replica.restarts = 0;
}

}  // namespace pondage::job
