// Our own workload file: machines, queues, jobs (written out or taken from traces), faults, policy.
//
// docs/en/workloads.md shows the format. Pure but for the traces that a file names, which come
// through Files. Errors name the line and the field ("line 12: jobs[3].gpus: ...").
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/files.h"
#include "trace/workload.h"

namespace pondage::trace {

base::Result<Workload> Yaml(std::string_view text, const Files& files);

// Reads back as the same workload, but for `source`.
std::string ToYaml(const Workload& workload);

}  // namespace pondage::trace
