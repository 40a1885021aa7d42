// Which replicas decide that a job runs or has succeeded, and how they are counted.
//
// Pure; any thread. As Kubeflow counts them.
#pragma once

#include <array>

#include "job/spec.h"
#include "job/status.h"

namespace pondage::job {

// The order in which failing types are named (upstream walks its map by name).
inline constexpr std::array<Role, base::kRoles> kNamingOrder = {
    Role::kChief, Role::kEvaluator, Role::kMaster, Role::kPs, Role::kWorker};

// `status.counts` from nothing.
void Recount(const Spec& spec, Status& status);

// Both read `status.counts`.
bool RunningHolds(const Spec& spec, const Status& status);
bool SuccessHolds(const Spec& spec, const Status& status);

// Whether the index was scaled in: it is not, or no longer, part of the job.
bool IsSurplus(const Spec& spec, const Replica& replica);

}  // namespace pondage::job
