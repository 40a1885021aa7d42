#include "report/bounds.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace pondage::report {

namespace {

// Work in milli-GPU x ms, and time in ms x milli-GPU of the whole machine: both are then integers.
using Wide = __int128;

Wide WorkOf(const Load& load) {
  return static_cast<Wide>(load.gpu.value) * load.duration.value;
}

// Mean flow time, in ms, of preemptive shortest remaining work on one machine of speed `gpu`.
double ShortestWorkFlowMs(const std::vector<Load>& loads, base::MilliGpu gpu) {
  std::priority_queue<Wide, std::vector<Wide>, std::greater<>> left;
  const base::Instant first = loads.front().submit;
  const auto at = [&](const Load& load) {
    return static_cast<Wide>((load.submit - first).value) * gpu.value;
  };
  Wide now = 0, flow = 0;
  for (std::size_t next = 0; next < loads.size() || !left.empty();) {
    if (left.empty()) now = at(loads[next]);
    while (next < loads.size() && at(loads[next]) <= now) {
      left.push(WorkOf(loads[next]));
      flow -= at(loads[next++]);
    }
    const Wide work = left.top();
    left.pop();
    if (next < loads.size() && now + work > at(loads[next])) {
      left.push(work - (at(loads[next]) - now));
      now = at(loads[next]);
    } else {
      now += work;
      flow += now;
    }
  }
  return static_cast<double>(flow) / static_cast<double>(gpu.value) /
         static_cast<double>(loads.size());
}

// From the first submission, in ms.
double MakespanMs(const std::vector<Load>& loads, base::MilliGpu gpu) {
  const base::Instant first = loads.front().submit;
  Wide later = 0;  // work submitted from here on
  double most = 0;
  for (std::size_t i = loads.size(); i-- > 0;) {
    const Load& load = loads[i];
    later += WorkOf(load);
    const auto since = static_cast<double>((load.submit - first).value);
    most = std::max({most, since + static_cast<double>(load.duration.value),
                     since + static_cast<double>(later) / static_cast<double>(gpu.value)});
  }
  return most;
}

}  // namespace

Bounds BoundsOf(const std::vector<Load>& loads, base::MilliGpu gpu) {
  REQUIRE(!loads.empty() && gpu.value > 0);
  REQUIRE(std::ranges::is_sorted(loads, {}, &Load::submit));
  Wide length = 0, work = 0;
  for (const Load& load : loads) length += load.duration.value, work += WorkOf(load);
  Bounds bounds;
  bounds.mean_duration_s = static_cast<double>(length) / 1'000 / static_cast<double>(loads.size());
  bounds.mean_jct_s = std::max(bounds.mean_duration_s, ShortestWorkFlowMs(loads, gpu) / 1'000);
  bounds.makespan_s = MakespanMs(loads, gpu) / 1'000;
  const double gpu_s = static_cast<double>(work) / static_cast<double>(gpu.value) / 1'000;
  if (bounds.makespan_s > 0) bounds.utilisation = gpu_s / bounds.makespan_s;
  const auto span_s =
      static_cast<double>((loads.back().submit - loads.front().submit).value) / 1'000;
  if (span_s > 0) bounds.load = gpu_s / span_s;
  return bounds;
}

}  // namespace pondage::report
