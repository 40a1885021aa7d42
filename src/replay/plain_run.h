// A workload under a plain policy instead of the pool. Used by Play.
#pragma once

#include "base/result.h"
#include "baseline/plain.h"
#include "report/run.h"
#include "trace/workload.h"

namespace pondage::replay {

// Errors: machines of several sizes, shares of a GPU, choices that a plain policy does not know.
base::Result<report::Run> PlayPlain(const trace::Workload& workload, baseline::Policy policy);

}  // namespace pondage::replay
