// The volumes of a replica whose server is root: mounted here, by descriptors and not by paths,
// since whoever owns a directory on the way could make root mount, or make, something elsewhere.
//
// One thread, before anything else is done with this process's rights.
#pragma once

#include <optional>

#include "shim/program.h"
#include "shim/wire.h"

namespace pondage::shim {

// Whether what bubblewrap left is what the server planned: /proc and the control groups are the
// kernel's own, and what must be mounted somewhere is, without a link on the way.
std::optional<StartFailure> WhyNotExpected(const Spec& spec);

// Mounts `mounts` of the spec, in their order. Their targets are reached without any link; what is
// missing of them is made.
std::optional<StartFailure> MountVolumes(const Spec& spec);

}  // namespace pondage::shim
