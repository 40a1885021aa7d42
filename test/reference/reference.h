// A tiny exact simulator: plain policies on rigid gangs, so simple that it can be trusted. It
// judges the real one.
//
// The rules: machines of equal size. A gang that fits one machine sits on one, the fullest where it
// fits; a larger one takes whole free machines, and its rest sits on one. At one instant ends come
// before arrivals, and then jobs start. Without preemption a job holds its gang from start to end.
#pragma once

#include <cstdint>
#include <vector>

namespace pondage::reference {

struct Job {
  std::int64_t submit_ms = 0;
  std::int64_t duration_ms = 0;
  int gpus = 0;
};

enum class Policy {
  kFifo,      // strictly by arrival: the head of the line blocks
  kFit,       // by arrival, the first that fits
  kFewest,    // fewest GPUs first, the first that fits
  kShortest,  // shortest first, the first that fits
};

// When each job started; jobs by submission. What never fits stays at -1.
std::vector<std::int64_t> Starts(const std::vector<Job>& jobs, int machines, int gpus_each,
                                 Policy policy);

// Preemptive ones: at every event all jobs are lined up anew and placed from the first on, for
// nothing.
enum class Order {
  kRemainingTime,     // SRTF
  kRemainingService,  // SRSF: remaining time x GPUs
  kAttained,          // LAS: least GPU-time so far; equals share by turns of `quantum_ms`
};

// When each job ended. With `gpus_each` 0 GPUs are one heap, whatever machine they are in.
std::vector<std::int64_t> Ends(const std::vector<Job>& jobs, int machines, int gpus_each,
                               Order order, std::int64_t quantum_ms);

// GPU-time used between the first and the last submission, of what there was, in [0, 1].
double Utilisation(const std::vector<Job>& jobs, const std::vector<std::int64_t>& starts,
                   std::int64_t gpus);

double MeanWaitS(const std::vector<Job>& jobs, const std::vector<std::int64_t>& starts);
double MeanJctS(const std::vector<Job>& jobs, const std::vector<std::int64_t>& ends);
std::vector<std::int64_t> EndsOf(const std::vector<Job>& jobs,
                                 const std::vector<std::int64_t>& starts);

}  // namespace pondage::reference
