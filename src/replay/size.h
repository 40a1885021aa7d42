// The fewest machines on which a workload waits no longer than is wished.
//
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/story.h"
#include "report/report.h"
#include "trace/workload.h"

namespace pondage::replay {

// A figure that is not to be above `most_s`.
struct Target {
  std::string name;    // as it was written: "p90-wait"
  std::string figure;  // as report::NamedFigures has it: "wait_s.p90"
  double most_s = 0;
};

// "p90-wait=10m,mean-jct=3h": mean, p50, p90 or p99 of wait or jct.
base::Result<std::vector<Target>> TargetsOf(std::string_view text);

// One number of machines that was played.
struct Trial {
  std::int64_t machines = 0;
  std::int64_t gpus = 0;
  std::vector<double> values;  // of the targets; of several seeds their means
  int unfinished = 0;          // jobs that never ran to their end, and were not cut by their limit
  bool met = false;
};

struct Sized {
  std::vector<Trial> trials;  // in the order in which they were played
  report::Result fewest;      // the answer
  // One machine less, which does not do; none: the answer is a single machine.
  std::optional<report::Result> below;
};

// Machines of all kinds in the fleet's proportions, `count` in all. Requires a fleet.
std::vector<trace::Machines> Scaled(const std::vector<trace::Machines>& fleet, std::int64_t count);

// By bisection, so many seeds a trial. Waiting may grow with a machine more: the answer is proven
// by a run on it and one with a machine less, not for all numbers below. Errors: no number of
// machines does, as far as more of them change anything.
base::Result<Sized> SizeFor(const trace::Workload& workload, const std::vector<Target>& targets,
                            const Options& options, int seeds, const OnRun& on_run);

}  // namespace pondage::replay
