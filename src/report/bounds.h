// What no schedule can beat: bounds for any preemptive, migrating schedule with one job on a GPU at
// a time, from submissions, lengths and sizes alone.
//
// Pure. Exact in integers up to the last division.
#pragma once

#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"

namespace pondage::report {

struct Load {
  base::Instant submit;
  base::Millis duration;
  base::MilliGpu gpu;
};

struct Bounds {
  double mean_duration_s = 0;
  // The larger of the mean duration, and the mean flow of shortest-remaining-work-first on one
  // machine as fast as all GPUs together.
  double mean_jct_s = 0;
  // From the first submission. For every instant: what is submitted from then on cannot end before
  // it is all worked off, nor before its last job's length is over.
  double makespan_s = 0;
  double utilisation = 0;  // at most, over the shortest makespan
  double load = 0;         // work over what there is between first and last submission
};

// Requires loads by submission, of at least one job, and gpu > 0.
Bounds BoundsOf(const std::vector<Load>& loads, base::MilliGpu gpu);

}  // namespace pondage::report
