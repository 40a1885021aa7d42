// Plain policies on rigid gangs, exactly: what a planner is compared with.
//
// Pure, and so simple that it can be trusted: it knows no queue, no limit, no cost, and nothing of
// the pool. The rules: machines of equal size. A gang that fits one machine sits on one, the
// fullest where it fits; a larger one takes whole free machines, and its rest sits on one. At one
// instant ends come before arrivals, and then jobs start. test/reference holds it against published
// figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pondage::baseline {

struct Job {
  std::int64_t submit_ms = 0;
  std::int64_t duration_ms = 0;
  int gpus = 0;
};

enum class Policy : std::uint8_t {
  // A job holds its gang from start to end.
  kFifo,      // strictly by arrival: the head of the line blocks
  kFit,       // by arrival, the first that fits
  kFewest,    // fewest GPUs first, the first that fits
  kShortest,  // shortest first, the first that fits
  // At every event all jobs are lined up anew and placed from the first on; that costs nothing.
  kRemainingTime,     // SRTF
  kRemainingService,  // SRSF: remaining time x GPUs
  kAttained,  // LAS: least GPU-time so far, in steps of a quantum; among equals who runs, stays
};

// "fifo" "fit" "fewest" "sjf" "srtf" "srsf" "las".
std::optional<Policy> PolicyOf(std::string_view name);

struct Stay {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
};

// When each job held its gang; what never fits holds nothing. Requires jobs by submission. The
// quantum of kAttained is GPU-time; its default is Tiresias' first threshold, 3,250 GPU-seconds.
std::vector<std::vector<Stay>> Play(const std::vector<Job>& jobs, int machines, int gpus_each,
                                    Policy policy, std::int64_t quantum_gpu_ms = 3'250'000);

}  // namespace pondage::baseline
