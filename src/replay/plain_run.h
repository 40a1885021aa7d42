// A workload under a plain policy instead of the pool. Used by Play.
//
// One thread.
#pragma once

#include "base/result.h"
#include "baseline/placing.h"
#include "baseline/plain.h"
#include "report/run.h"
#include "trace/workload.h"

namespace pondage::replay {

// Plain policies interrupt for nothing. Errors: failing machines, machines of several sizes, shares
// of a GPU, choices that a plain policy does not know.
base::Result<report::Run> PlayPlain(const trace::Workload& workload, baseline::Policy policy);

// By arrival, the first that fits, on any machines: GPUs whole or in parts, types, cores, memory.
// Errors: failing machines, labels.
base::Result<report::Run> PlayPlaced(const trace::Workload& workload, baseline::Placing placing);

}  // namespace pondage::replay
