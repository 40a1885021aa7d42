#include "job/exits.h"

#include <algorithm>

#include "base/assert.h"

namespace pondage::job {
namespace {

constexpr int kSavedAndLeft = 42;     // TensorFlow's own word for "requeue me"
constexpr int kFirstRetryable = 128;  // 128 + n: ended by signal n, not by its own decision

// There is no such program, or it may not be run: the next try finds the same.
bool CannotRun(const Exit& exit) {
  constexpr int kNotExecutable = 126, kNotFound = 127;
  return exit.reason == "StartFailed" && (exit.code == kNotExecutable || exit.code == kNotFound);
}

constexpr Reading kDisruption{.meaning = Meaning::kAgain};

Reading ByPolicy(RestartPolicy policy, int code) {
  switch (policy) {
    case RestartPolicy::kNever:
      return {.meaning = Meaning::kFatal};
    case RestartPolicy::kExitCode:
      if (code < kFirstRetryable) return {.meaning = Meaning::kFatal, .permanent = true};
      return {.meaning = Meaning::kAgain, .counted = true};
    case RestartPolicy::kOnFailure:
    case RestartPolicy::kAlways:
      break;
  }
  return {.meaning = Meaning::kAgain, .counted = true, .in_place = true};
}

}  // namespace

Reading ReadExit(const Spec& spec, const Replica& replica) {
  REQUIRE(replica.exit.has_value());
  const int code = replica.exit->code;
  const RestartPolicy policy = PolicyOf(spec, replica.role);
  if (code == 0 && policy != RestartPolicy::kAlways) return {.meaning = Meaning::kDone};

  const bool asked_for_requeue = code == spec.requeue_exit_code.value_or(kSavedAndLeft);
  if (replica.stop_asked && asked_for_requeue) return kDisruption;
  const bool missed = !(spec.dynamic_worker && replica.role == Role::kWorker);
  const bool asks_again = spec.requeue_exit_code && asked_for_requeue && !replica.disrupted;
  if (policy == RestartPolicy::kNever && !missed && !asks_again) {
    return {.meaning = Meaning::kIgnored};
  }
  if (replica.disrupted) {
    // Running it twice is what the author ruled out; one that never ran has not run once.
    if (policy == RestartPolicy::kNever && replica.started) return {.meaning = Meaning::kFatal};
    return kDisruption;
  }
  if (CannotRun(*replica.exit)) {
    return {.meaning = Meaning::kFatal, .permanent = policy == RestartPolicy::kExitCode};
  }
  Reading reading = ByPolicy(policy, code);
  if (asks_again) {
    reading.meaning = Meaning::kAgain;
    reading.counted = reading.voluntary = true;
    reading.permanent = false;
  }
  return reading;
}

bool IsEarlier(const Exit& a, const Exit& b) {
  if (!a.boot_id.empty() && a.boot_id == b.boot_id) return a.at_monotonic_ms < b.at_monotonic_ms;
  return a.at < b.at;
}

base::Millis RestartDelay(int streak, const Settings& settings) {
  REQUIRE(streak >= 0);
  base::Millis delay = settings.restart_delay;
  for (int i = 0; i < streak && delay < settings.restart_delay_max; ++i) delay = delay * 2;
  return std::min(delay, settings.restart_delay_max);
}

RestartPolicy PolicyOf(const Spec& spec, Role role) {
  const auto found = spec.roles.find(role);
  return found == spec.roles.end() ? RestartPolicy::kNever : found->second.restart;
}

base::Millis GraceOf(const Spec& spec, Role role) {
  const auto found = spec.roles.find(role);
  return found == spec.roles.end() ? ReplicaSpec{}.grace : found->second.grace;
}

base::Millis LongestGrace(const Spec& spec) {
  base::Millis longest{0};
  for (const auto& [role, replicas] : spec.roles) longest = std::max(longest, replicas.grace);
  return longest;
}

bool EndsAttempt(const Spec& spec, Role role) {
  if (role == Role::kEvaluator) return false;
  if (RestartScope(spec) == Scope::kGang) return true;
  return role == Role::kPs && spec.scope != Scope::kReplica;
}

bool StaysFinished(const Spec& spec, Role role) {
  return role == Role::kEvaluator || RestartScope(spec) == Scope::kReplica;
}

bool Leads(const Spec& spec, Role role) {
  if (role == Role::kEvaluator) return false;
  if (!spec.Has(Role::kPs)) return true;
  if (spec.Has(Role::kChief) || spec.Has(Role::kMaster)) {
    return role == Role::kChief || role == Role::kMaster;
  }
  return role == Role::kWorker;
}

}  // namespace pondage::job
