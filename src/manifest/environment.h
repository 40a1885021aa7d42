// The variables that the pool adds to a replica's main container.
//
// Pure. The names: docs/decisions/0004.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fleet/node.h"
#include "job/spec.h"
#include "job/status.h"
#include "manifest/pod_spec.h"

namespace pondage::manifest {

// In the order in which they stand behind the author's own; a name that the author set and may set
// is left out. TF_CONFIG is not among them.
std::vector<std::pair<std::string, std::string>> PoolEnvironment(
    const job::Identity& identity, const job::Spec& spec, const job::Status& status,
    const job::Replica& replica, const Container* main, const fleet::Node* node);

}  // namespace pondage::manifest
