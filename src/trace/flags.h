// What flags say instead of a workload file, with the words that stand there.
//
// Pure. Errors name the flag.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/workload.h"

namespace pondage::trace {

// "18x8", "18x8:V100,4x2:T4".
base::Result<std::vector<Machines>> MachinesFlag(std::string_view text);

// "mtbf=30d,repair=4h,limits=0.9..4": what is named replaces what `faults` says.
base::Result<void> FaultsFlag(std::string_view text, Faults& faults);

// "restart=60s,saving=20s,grace=30s,checkpoint-every=10m,apart-slowdown-percent=5".
base::Result<void> CostsFlag(std::string_view text, Policy& policy);

}  // namespace pondage::trace
