// The job stands in its queue.
#include <fmt/format.h>

#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {

void ShowSuspended(Pass& pass) {
  Status& status = pass.status;
  const std::string text = fmt::format("TFJob {} is suspended.", pass.identity.name);
  if (IsTrue(status, "Running")) {
    SetCondition(status, "Running", false, "TFJobSuspended", text, pass.now);
  }
  if (SetCondition(status, "Suspended", true, "TFJobSuspended", text, pass.now)) {
    pass.Tell(false, "TFJobSuspended", text);
  }
}

void ShowResumed(Pass& pass) {
  if (!IsTrue(pass.status, "Suspended")) return;
  const std::string text = fmt::format("TFJob {} is resumed.", pass.identity.name);
  SetCondition(pass.status, "Suspended", false, "TFJobResumed", text, pass.now);
  pass.Tell(false, "TFJobResumed", text);
}

namespace {

// Pods of members that have finished stand beside a job that waits.
void TidyPods(Pass& pass) {
  for (Replica& replica : pass.status.replicas) {
    if (!replica.present) continue;
    if (pass.spec.suspend || replica.deleting || IsSurplus(pass.spec, replica)) {
      RemovePod(pass, replica);
    }
  }
}

}  // namespace

void Wait(Pass& pass) {
  Status& status = pass.status;
  Recount(pass.spec, status);
  if (SuccessHolds(pass.spec, status)) return Succeed(pass);
  TidyPods(pass);
  if (pass.spec.suspend) {
    ShowSuspended(pass);
    status.drain = Drain::kSuspend;
    return;
  }
  if (FailPastLimits(pass)) return;
  // A preempted job shows Suspended until it has its GPUs back; a resumed one does not.
  const bool preempted = status.drain == Drain::kYield || status.drain == Drain::kResize;
  if (!preempted) ShowResumed(pass);
  if (status.not_before && *status.not_before > pass.now) return pass.WakeAt(*status.not_before);
  pass.verdict.wants_gang = !WantedMembers(pass.spec, status).empty();
}

}  // namespace pondage::job
