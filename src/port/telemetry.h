// The port to the last readings of this machine: GPUs with their processes, progress of replicas.
//
// Thread rule: any thread; answers from memory. Faces: agent::Agent (real), test fakes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "port/gpu_probe.h"

namespace pondage::port {

struct ReplicaReading {
  std::string uid;  // of the Pod
  std::int64_t step = -1;
  std::int64_t checkpoint_step = -1;
  std::int64_t input_wait_permille = -1;
  std::int64_t cpu_ms = -1;        // used so far, whole tree
  std::int64_t memory_bytes = -1;  // resident, whole tree
  base::Instant at;
};

class Telemetry {
 public:
  virtual ~Telemetry() = default;
  virtual GpuInventory Gpus() const = 0;
  virtual std::vector<ReplicaReading> Replicas() const = 0;
};

}  // namespace pondage::port
