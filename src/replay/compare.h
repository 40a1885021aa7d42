// Two ways to decide on one workload, decision by decision.
//
// One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/status.h"
#include "replay/story.h"
#include "report/partings.h"
#include "report/run.h"
#include "trace/workload.h"

namespace pondage::replay {

// Why the one of the two that waits does so: what the pool's own status says, and what can be seen
// from outside.
struct Why {
  bool is_b = false;  // it is the second that waits; else the first
  std::optional<job::Reason> reason;
  report::Crowd crowd;
};

struct Comparison {
  report::Run a, b;
  std::vector<report::Parting> partings;
  std::vector<std::optional<Why>> why;  // of the first so many; none: neither waits
};

// `a` and `b` are named as for PlayNamed; with "live", what is a second apart is the same. The
// first `explained` partings are told with their why: that plays the runs once more.
base::Result<Comparison> Compare(const trace::Workload& workload, const std::string& a,
                                 const std::string& b, const Options& options,
                                 std::size_t explained, const OnRun& on_run);

}  // namespace pondage::replay
