// Exits are taken: what each means is read once, told once, and kept.
#include <fmt/format.h>

#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

// Whether this end came of our order. One that had failed before the job did is only told late: the
// order met nobody.
bool WasStopped(const Status& status, const Replica& replica) {
  if (!replica.killed && !replica.stop_asked) return false;
  if (!IsTrue(status, "Failed")) return true;
  const Exit& exit = *replica.exit;
  return exit.at >= DecidedAt(status) && !(status.cause && IsEarlier(exit, *status.cause));
}

// Scaled in: our own deletion. It may be wanted again before it has left.
bool IsDismissed(const Spec& spec, const Replica& replica) {
  return IsSurplus(spec, replica) || (replica.deleting && !replica.disrupted);
}

// One that was stopped because its job had ended did not fail.
void StoppedWithJob(const Status& status, Replica& replica) {
  replica.exit->reason = "StoppedWithJob";
  if (IsTrue(status, "Succeeded")) replica.phase = Phase::kSucceeded;
}

void TakeExit(Pass& pass, Replica& replica) {
  replica.exit_taken = true;
  const Exit& exit = *replica.exit;
  const std::string pod =
      pass.identity.space + "." + ReplicaName(pass.identity.name, replica.role, replica.index);
  if (exit.reason == "StartFailed") {
    pass.Tell(true, "StartFailed", fmt::format("Pod: {} cannot start: {}", pod, exit.message));
  } else if (exit.reason != "NodeLost") {
    pass.Tell(false, "ExitedWithCode", fmt::format("Pod: {} exited with code {}", pod, exit.code));
  }
  const bool ours = IsDismissed(pass.spec, replica);
  const Reading reading =
      ours ? Reading{.meaning = Meaning::kIgnored} : ReadExit(pass.spec, replica);
  if (reading.meaning == Meaning::kDone) replica.completed = true;
  if (IsFinished(pass.status) && exit.code != 0 && WasStopped(pass.status, replica)) {
    StoppedWithJob(pass.status, replica);
  }
  pass.seen.push_back({&replica, reading});
}

}  // namespace

void TakeExits(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.alive && replica.exit && !replica.exit_taken) TakeExit(pass, replica);
  }
}

}  // namespace pondage::job
