// All runs that a workload asks for, in the order of the story that its report tells.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/player.h"
#include "report/run.h"
#include "trace/workload.h"

namespace pondage::replay {

// Islands and baselines of `policy.compare`, then the pool, then the pool with arrivals so much
// faster. `on_run` is told before each: its name, which it is, and of how many.
base::Result<std::vector<report::Run>> PlayStory(
    const trace::Workload& workload, const Options& options,
    const std::function<void(const std::string& name, std::size_t number, std::size_t of)>& on_run);

}  // namespace pondage::replay
