// All runs that a workload asks for, in the order of the story that its report tells.
//
// One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/player.h"
#include "report/report.h"
#include "trace/workload.h"

namespace pondage::replay {

// Told before each run: its name, which it is, and of how many.
using OnRun = std::function<void(const std::string& name, std::size_t number, std::size_t of)>;

// One run of the workload by name: "islands"; "live", what was recorded (trace::Job::started); else
// a policy. Errors: nothing was recorded.
base::Result<report::Run> PlayNamed(const trace::Workload& workload, const std::string& name,
                                    Options options);

// The `policy.baselines`, then the pool, then the pool with arrivals so much
// faster; with `seeds` > 1 all of it so often, with the seeds from options.seed on: the records are
// those of the first, the figures of all.
base::Result<std::vector<report::Result>> PlayStory(const trace::Workload& workload,
                                                    const Options& options, int seeds,
                                                    const OnRun& on_run);

}  // namespace pondage::replay
