// Where two runs of one workload part: for every job the first thing that was decided otherwise.
//
// Pure. Runs are compared by what happened to their jobs, whoever decided it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "report/run.h"

namespace pondage::report {

// What one run does with a job at the instant of a parting.
struct Deed {
  enum class What : std::uint8_t {
    kStarts,  // now
    kLeaves,  // now, to start again: it was asked to, or its machine failed
    kEnds,    // now
    kWaits,   // until `later`
    kRuns,    // until `later`
    kGone,    // it has ended before
  } what = What::kWaits;
  base::Instant later = base::kNever;  // kNever: for ever, as far as the run goes
  std::vector<std::string> machines;   // where it runs, ran, or will run
  bool operator==(const Deed&) const = default;
};

struct Parting {
  base::Instant at;
  std::string job;
  base::MilliGpu gpu;
  Deed a, b;
};

// By time, then in the order of the jobs. What happens at one instant, give or take `tolerance`, is
// the same; so are starts on as many machines, whatever the machines are called. Jobs that one of
// the two lacks are left out.
std::vector<Parting> Partings(const Run& a, const Run& b, base::Millis tolerance = {});

// What a run looked like to a job that waits in it.
struct Crowd {
  double free_gpus = 0;
  int ahead = 0;          // jobs that came before it and wait too
  std::string first;      // of these
  double first_gpus = 0;  // that it asks for
};
Crowd CrowdAt(const Run& run, base::Instant at, const std::string& job);

}  // namespace pondage::report
