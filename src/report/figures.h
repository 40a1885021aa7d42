// The figures of a run: what every report of a scheduler states, and how far it is from the bounds.
//
// Pure, any thread. Times are seconds as doubles: they are for reading, nothing is decided by them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/bounds.h"
#include "report/run.h"

namespace pondage::report {

struct Spread {
  double mean = 0;
  double p50 = 0, p90 = 0, p99 = 0;  // sorted[int(p x n)]
  double most = 0;

  bool operator==(const Spread&) const = default;
};
Spread SpreadOf(std::vector<double> values);

struct QueueFigures {
  std::string queue;
  int jobs = 0;
  double gpu_hours = 0;
  Spread wait_s;
};

struct Figures {
  int jobs = 0;
  int unfinished = 0;     // not counted in what follows
  int cut = 0;            // of these, ended by their limits
  Spread jct_s;           // end - submission
  Spread wait_s;          // JCT - duration; where that is unknown, first start - submission
  double makespan_s = 0;  // last end - first submission
  // GPU-time held in the window, of what there was; the window is from the first to the last
  // submission, or to the last end where all came at once.
  double utilisation = 0;
  double window_s = 0;
  double evictions_per_job = 0;
  double moves_per_job = 0;
  double failures_per_job = 0;  // of machines under it
  double lost_gpu_hours = 0;
  std::vector<QueueFigures> queues;  // by name
  std::optional<Bounds> bounds;      // where all durations are known
};

Figures FiguresOf(const Run& run);

// The queue that loses most against its own island: its mean waits there and here. None: nobody
// does.
struct Worst {
  std::string queue;
  double alone_s = 0;
  double here_s = 0;
};
std::optional<Worst> WorstAgainst(const Figures& here, const Figures& islands);

// The mean over seeds, and how far the true one may be from it with 95 % confidence (Student's t).
struct Interval {
  double mean = 0;
  double half_width = 0;  // 0 for a single value: nothing is known
};
Interval Over(const std::vector<double>& values);

// The figures that are averaged over seeds, by the names that they have in JSON: "wait_s.p90".
struct NamedFigure {
  std::string_view name;
  double Figures::* direct = nullptr;  // or one of a spread:
  Spread Figures::* spread = nullptr;
  double Spread::* part = nullptr;

  double Of(const Figures& figures) const {
    return direct != nullptr ? figures.*direct : figures.*spread.*part;
  }
};
std::span<const NamedFigure> NamedFigures();
// Requires that there is one of that name.
Interval OverSeeds(const std::vector<Figures>& seeds, std::string_view name);

// GPUs held and GPUs asked for by waiting jobs, averaged over `buckets` equal parts of the run.
struct Moment {
  double at_s = 0;  // its begin, from the first submission
  double held = 0;
  double waiting = 0;
};
std::vector<Moment> Course(const Run& run, int buckets);

}  // namespace pondage::report
