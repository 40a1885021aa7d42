#include "job/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "job/pass.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

// Deletion was asked for: whatever the job was about, it leaves now.
void Depart(Pass& pass) {
  Status& status = pass.status;
  if (status.stage == Stage::kDraining && status.drain == Drain::kDelete) return;
  if (status.stage == Stage::kDraining) {
    status.drain = Drain::kDelete;
  } else {
    BeginLeaving(pass.spec, status, Drain::kDelete, pass.now);
  }
}

void Advance(Pass& pass) {
  switch (pass.status.stage) {
    case Stage::kWaiting:
      return Wait(pass);
    case Stage::kBound:
      return Run(pass);
    case Stage::kDraining:
      return Leave(pass);
    case Stage::kEnded:
      return Clean(pass);
  }
}

}  // namespace

Verdict Judge(const Identity& identity, const Spec& spec, Status& status, bool removed,
              base::Instant now, const Settings& settings) {
  Pass pass{identity, spec, status, now, settings, {}, {}};
  if (spec.managed_elsewhere) {
    pass.verdict.gone = removed;
    return std::move(pass.verdict);
  }
  TakeExits(pass);
  if (removed) Depart(pass);

  // Stages follow each other bound, draining, waiting or ended, or again draining once to end:
  // a pass goes through all that it can.
  for (int stages = 0; stages < 6; ++stages) {
    const Stage before = status.stage;
    Advance(pass);
    if (status.stage == before) break;
  }
  Recount(spec, status);
  PROMISE(!(IsTrue(status, "Succeeded") && IsTrue(status, "Failed")));
  PROMISE(!pass.verdict.gone || !AnyAlive(status));
  return std::move(pass.verdict);
}

Status FirstStatus(const Identity& identity, const Spec& spec, base::Instant now) {
  Status status;
  if (spec.managed_elsewhere) return status;
  status.queued = now;
  SetCondition(status, "Created", true, "TFJobCreated",
               fmt::format("TFJob {} is created.", identity.name), now);
  if (spec.suspend) {
    SetCondition(status, "Suspended", true, "TFJobSuspended",
                 fmt::format("TFJob {} is suspended.", identity.name), now);
  }
  Recount(spec, status);
  return status;
}

std::optional<base::Instant> ExpiresAt(const Spec& spec, const Status& status) {
  if (!spec.ttl || !status.completion_time || !IsFinished(status)) return std::nullopt;
  if (spec.managed_elsewhere || spec.suspend) return std::nullopt;
  return *status.completion_time + *spec.ttl;
}

}  // namespace pondage::job
