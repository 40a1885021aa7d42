// What the pool wants done, in the order of a TFJob's life. The host commits all decisions of a
// step in one transaction, and only then carries them out.
//
// Values; any thread.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "job/machine.h"
#include "job/status.h"
#include "ledger/ledger.h"
#include "plan/plan.h"

namespace pondage::pool {

// A Pod (and its Service) is to exist for this replica, bound to grant and port, in `status`.
// `addresses`: of every replica of the job, for TF_CONFIG (roles in order, index ascending).
struct MakePod {
  base::ReplicaId replica;
};
struct StartReplica {
  base::ReplicaId replica;
};  // run its program now
struct StopReplica {
  base::ReplicaId replica;
  base::Instant deadline;
};  // SIGTERM, SIGKILL then
struct KillReplica {
  base::ReplicaId replica;
};
struct RemovePod {
  base::ReplicaId replica;
};  // Pod and Service objects

// The job's status is now this (see Pool::Find). Written at most once a step and job.
struct SetStatus {
  base::JobId job;
};
struct Emit {
  base::JobId job;
  job::Note note;
};

struct CloseCharge {
  ledger::Entry entry;
};

// What the users of this queue used is now this (see Tree::UsesIn; none: nobody anything).
struct SetUse {
  std::string queue;
};

// Those who wait were planned for at this time.
struct Planned {
  base::Instant at;
};

// Nothing of it is left: the object goes, with all that it owns.
struct ForgetJob {
  base::JobId job;
};
// It ended: no longer the pool's. The host deletes it at `expires` (kNever: its own retention).
struct JobEnded {
  base::JobId job;
  base::Instant expires;
};

struct WakeAt {
  base::Instant at;
};  // always the last: when nothing is told earlier, step then

using Decision = std::variant<MakePod, StartReplica, StopReplica, KillReplica, RemovePod, SetStatus,
                              Emit, CloseCharge, SetUse, Planned, ForgetJob, JobEnded, WakeAt>;

}  // namespace pondage::pool
