// Words of the tests in this folder about runs of the plain policies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "baseline/plain.h"

namespace pondage::baseline {

using Times = std::vector<std::int64_t>;

inline Times Starts(const std::vector<Job>& jobs, int machines, int gpus_each, Policy policy) {
  Times starts;
  for (const auto& stays : Play(jobs, machines, gpus_each, policy))
    starts.push_back(stays.front().from_ms);
  return starts;
}

inline Times Ends(const std::vector<Job>& jobs, int machines, int gpus_each, Policy policy) {
  Times ends;
  for (const auto& stays : Play(jobs, machines, gpus_each, policy))
    ends.push_back(stays.back().to_ms);
  return ends;
}

inline double MeanJctS(const std::vector<Job>& jobs, const Times& ends) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    sum += static_cast<double>(ends[i] - jobs[i].submit_ms) / 1'000;
  }
  return sum / static_cast<double>(jobs.size());
}

inline double MeanWaitS(const std::vector<Job>& jobs, const Times& starts) {
  return MeanJctS(jobs, starts);
}

// GPU-time used between the first and the last submission, of what there was, in [0, 1].
inline double Utilisation(const std::vector<Job>& jobs, const Times& starts, std::int64_t gpus) {
  const std::int64_t first = jobs.front().submit_ms, last = jobs.back().submit_ms;
  double used = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::int64_t end = std::min(starts[i] + jobs[i].duration_ms, last);
    used += static_cast<double>(std::max<std::int64_t>(end - starts[i], 0)) * jobs[i].gpus;
  }
  return used / (static_cast<double>(gpus) * static_cast<double>(last - first));
}

}  // namespace pondage::baseline
