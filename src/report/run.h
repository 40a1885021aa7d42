// The records of one finished run: what happened to every job, on how many GPUs, under which rules.
//
// Values; any thread. They come from the simulator, from live history or from another scheduler's
// log: a report knows none of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"

namespace pondage::report {

// GPUs held without a break.
struct Stay {
  base::Instant from;
  base::Instant to;
  std::vector<std::string> machines = {};  // by name, each once; empty: not told
};

struct Job {
  std::string name;
  std::string queue;
  std::string user;
  base::MilliGpu gpu;  // of the whole gang
  base::Instant submit;
  std::optional<base::Millis> duration;  // what it takes undisturbed, where that is known
  std::vector<Stay> stays;               // by time
  bool finished = true;  // false: cut, or it still runs or waits at the end of the run
  bool cut = false;      // ended by its limit before its work was done
  int evictions = 0;
  int failures = 0;  // of a machine, or of several at once, under it
  int moves = 0;
  std::int64_t lost_milli_gpu_ms = 0;  // GPU-time in which nothing was done that counts
};

struct Run {
  std::string name;                   // "pool", "islands"
  std::string policy;                 // "pondage", "fifo", ...
  std::string machines;               // for people: "18 x 8"
  base::MilliGpu gpu;                 // of all machines
  bool islands = false;               // every queue was alone on its own part of them
  std::int64_t faster_milli = 1'000;  // arrivals so many thousandths as fast as in the trace
  std::uint64_t seed = 0;
  std::string costs;      // what an eviction and a restart cost, for people
  std::vector<Job> jobs;  // by submission
};

}  // namespace pondage::report
