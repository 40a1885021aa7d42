// The job ends: one terminal condition, and what stays of its Pods.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

enum class Parting : std::uint8_t { kAtOnce, kPolitely };

// `ended`: when its programs decided it, which a server that was away learns late.
void End(Pass& pass, const std::string& type, const std::string& message, bool warning,
         base::Instant ended) {
  Status& status = pass.status;
  REQUIRE(!IsFinished(status));
  const std::string reason = "TFJob" + type;
  SetCondition(status, type, true, reason, message, pass.now);
  pass.Tell(warning, reason, message);
  status.completion_time = pass.EndWithin(ended, status.start_time);
  if (status.stage == Stage::kWaiting) {
    status.stage = Stage::kEnded;  // nobody is there who could leave
  } else {
    if (status.stage == Stage::kBound) BeginLeaving(pass.spec, status, Drain::kFinish, pass.now);
    status.drain_deadline = pass.now + LongestGrace(pass.spec);
  }
  status.drain = Drain::kFinish;
  status.not_before.reset();
  status.reason.reset();
  status.slot.reset();
  PROMISE(IsFinished(status));
}

void Fail(Pass& pass, const std::string& message, Parting parting, base::Instant ended,
          bool warning = false) {
  End(pass, "Failed", message, warning, ended);
  if (parting == Parting::kAtOnce) KillAll(pass);
}

// Upstream's list ends `Running=False, Failed` when its pass meets the deciding type first.
void ShowRunningBefore(Pass& pass, Role failed) {
  const std::optional<Role> deciding = DecidingRole(pass.spec);
  if (!deciding || !RunningHolds(pass.spec, pass.status)) return;
  if (std::ranges::find(kNamingOrder, *deciding) > std::ranges::find(kNamingOrder, failed)) return;
  SetCondition(pass.status, "Running", true, "TFJobRunning",
               fmt::format("TFJob {} is running.", pass.identity.Path()), pass.now);
}

// The exits seen by which the job fails.
std::vector<const Seen*> Fatal(const Pass& pass) {
  const Seen* first = FirstOfAttempt(pass);
  std::vector<const Seen*> fatal;
  for (const Seen& seen : pass.seen) {
    if (seen.reading.meaning != Meaning::kFatal) continue;
    if (&seen == first || !EndsAttempt(pass.spec, seen.replica->role)) fatal.push_back(&seen);
  }
  return fatal;
}

// The one that names the failure, as upstream does: a permanent code first, then by type.
const Seen& NamesFailure(const std::vector<const Seen*>& fatal) {
  REQUIRE(!fatal.empty());
  const auto rank = [](const Seen* seen) {
    return std::pair(!seen->reading.permanent,
                     std::ranges::find(kNamingOrder, seen->replica->role));
  };
  return **std::ranges::min_element(fatal, {}, rank);
}

// Requires that the cause is recorded.
void FailBy(Pass& pass, const Seen& named) {
  const base::Instant ended = pass.status.cause->at;
  const Role role = named.replica->role;
  const Parting parting = EndsAttempt(pass.spec, role) ? Parting::kAtOnce : Parting::kPolitely;
  if (named.reading.permanent) {
    return Fail(pass,
                fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                            pass.identity.name, RoleName(role)),
                parting, ended, true);
  }
  ShowRunningBefore(pass, role);
  Fail(pass,
       fmt::format("TFJob {} has failed because {} {} replica(s) failed.", pass.identity.Path(),
                   pass.status.counts[role].failed, RoleName(role)),
       parting, ended);
}

// The exit by which a limit of restarts was reached; none: the limit was lowered.
const Seen* LastStraw(const Pass& pass, const Seen* first_of_attempt) {
  if (first_of_attempt != nullptr || pass.status.stage != Stage::kBound) return first_of_attempt;
  const Seen* last = nullptr;
  for (const Seen& seen : pass.seen) {
    if (seen.reading.counted) last = Earlier(last, &seen);
  }
  return last;
}

// Under policy Running only what still ran at the end goes.
bool RanToTheEnd(const Status& status, const Replica& replica) {
  return !replica.exit || replica.exit->reason == "StoppedWithJob" ||
         replica.exit->at > DecidedAt(status);
}

}  // namespace

void Succeed(Pass& pass) {
  pass.status.cause.reset();
  pass.status.cause_replica.clear();
  std::optional<base::Instant> ended;
  for (const Replica& replica : pass.status.replicas) {
    if (replica.completed && replica.exit) ended = std::max(ended, {replica.exit->at});
  }
  End(pass, "Succeeded", fmt::format("TFJob {} successfully completed.", pass.identity.Path()),
      false, ended.value_or(pass.now));
}

bool FailAfterExits(Pass& pass) {
  const std::vector<const Seen*> fatal = Fatal(pass);
  if (fatal.empty()) return false;
  const Seen* first = nullptr;
  for (const Seen* seen : fatal) first = Earlier(first, seen);
  RecordCause(pass, *first->replica);
  FailBy(pass, NamesFailure(fatal));
  return true;
}

void FailInstead(Pass& pass, const Seen& fatal) {
  REQUIRE(pass.status.drain == Drain::kRestart);
  std::vector<Past>& history = pass.status.history;
  // Nobody starts again after it. A status of an older server may know of no start.
  if (!history.empty() && history.back().attempt == pass.status.attempt) history.pop_back();
  Recount(pass.spec, pass.status);
  FailBy(pass, fatal);
}

// The clock stops while a suspended or preempted job waits.
std::optional<base::Instant> TimeUp(const Spec& spec, const Status& status) {
  if (status.stage == Stage::kWaiting && status.drain != Drain::kRestart) return {};
  if (!spec.deadline || !status.start_time) return {};
  return *status.start_time + *spec.deadline;
}

bool FailPastLimits(Pass& pass) {
  Status& status = pass.status;
  const Spec& spec = pass.spec;
  const Seen* first = status.stage == Stage::kBound ? FirstOfAttempt(pass) : nullptr;
  const Parting parting = first != nullptr ? Parting::kAtOnce : Parting::kPolitely;
  const bool spent = spec.backoff_limit && status.restarts >= std::max(*spec.backoff_limit, 1);
  const bool loops = status.voluntary >= pass.settings.max_voluntary;
  if (spent || loops) {
    const Seen* last = LastStraw(pass, first);
    if (last != nullptr) RecordCause(pass, *last->replica);
    Fail(pass,
         spent
             ? fmt::format("Job {} has failed because it has reached the specified backoff limit",
                           pass.identity.name)
             : fmt::format("TFJob {} has failed because its program asked {} times in a row to be "
                           "run again.",
                           pass.identity.Path(), status.voluntary),
         parting, last != nullptr ? last->replica->exit->at : pass.now);
    return true;
  }
  const std::optional<base::Instant> until = TimeUp(spec, status);
  if (!until) return false;
  if (*until > pass.now) {
    pass.WakeAt(*until);
    return false;
  }
  status.cause.reset();
  status.cause_replica.clear();
  Fail(pass,
       fmt::format("Job {} has failed because it was active longer than specified deadline",
                   pass.identity.name),
       Parting::kPolitely, pass.now);
  return true;
}

void Clean(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.present) continue;
    const bool all = pass.spec.clean_pods == CleanPodPolicy::kAll;
    const bool running = pass.spec.clean_pods == CleanPodPolicy::kRunning;
    if (replica.deleting || all || (running && RanToTheEnd(pass.status, replica))) {
      RemovePod(pass, replica);
    }
  }
}

}  // namespace pondage::job
