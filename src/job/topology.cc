#include "job/topology.h"

#include <algorithm>

#include "job/exits.h"

namespace pondage::job {
namespace {

enum class Count : std::uint8_t { kNothing, kActive, kSucceeded, kFailed };

Count CountAs(const Spec& spec, const Status& status, const Replica& replica) {
  if (replica.completed) return Count::kSucceeded;
  if (!replica.present) return Count::kNothing;
  const bool stopped = replica.exit && replica.exit->reason == "StoppedWithJob";
  switch (replica.phase) {
    case Phase::kPending:
      return Count::kNothing;
    case Phase::kRunning:
      if (IsTrue(status, "Succeeded")) return Count::kSucceeded;
      return replica.deleting ? Count::kNothing : Count::kActive;  // O9
    case Phase::kSucceeded:
      return PolicyOf(spec, replica.role) == RestartPolicy::kAlways && !stopped ? Count::kNothing
                                                                                : Count::kSucceeded;
    case Phase::kFailed:
      return stopped ? Count::kNothing : Count::kFailed;
  }
  return Count::kNothing;
}

bool IsFirstWorkerDone(const Status& status) {
  return std::ranges::any_of(status.replicas, [](const Replica& replica) {
    return replica.role == Role::kWorker && replica.index == 0 && replica.completed;
  });
}

}  // namespace

void Recount(const Spec& spec, Status& status) {
  status.counts.clear();
  for (const auto& [role, replicas] : spec.roles) status.counts[role];
  for (const Replica& replica : status.replicas) {
    const auto counts = status.counts.find(replica.role);
    if (counts == status.counts.end() || IsSurplus(spec, replica)) continue;
    switch (CountAs(spec, status, replica)) {
      case Count::kNothing:
        break;
      case Count::kActive:
        ++counts->second.active;
        break;
      case Count::kSucceeded:
        ++counts->second.succeeded;
        break;
      case Count::kFailed:
        ++counts->second.failed;
        break;
    }
  }
}

bool RunningHolds(const Spec& spec, const Status& status) {
  const std::optional<Role> deciding = DecidingRole(spec);
  if (!deciding) return false;
  const auto counts = status.counts.find(*deciding);
  return counts != status.counts.end() && counts->second.active > 0;
}

bool SuccessHolds(const Spec& spec, const Status& status) {
  const std::optional<Role> deciding = DecidingRole(spec);
  if (!deciding) return false;
  const auto counts = status.counts.find(*deciding);
  if (counts == status.counts.end()) return false;
  if (counts->second.succeeded >= spec.Replicas(*deciding)) return true;
  return *deciding == Role::kWorker && spec.success == SuccessPolicy::kDefault &&
         IsFirstWorkerDone(status);
}

bool IsSurplus(const Spec& spec, const Replica& replica) {
  return replica.index >= spec.Replicas(replica.role);
}

}  // namespace pondage::job
