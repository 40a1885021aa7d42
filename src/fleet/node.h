// A machine as the pool knows it: its GPUs, cores, memory and health.
//
// Values; any thread. Readings come from a probe on the machine (NVML, or declared virtual GPUs) or
// from a Node object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/quantity.h"

namespace pondage::fleet {

struct Gpu {
  std::string id;    // what the driver calls it ("GPU-…"), or "virtual-0": unique on the node
  std::string type;  // "NVIDIA A100-SXM4-80GB"
  base::Bytes memory;
  int numa = -1;            // NUMA node; -1 unknown
  int island = -1;          // GPUs of one NVLink island share a number; -1 none or unknown
  bool is_virtual = false;  // declared by a flag, no device behind it: said wherever it is shown
  bool healthy = true;
  bool foreign = false;  // a process outside the pool is using it: seen, never scheduled over

  bool operator==(const Gpu&) const = default;
};

// Keeps away whoever does not tolerate it.
struct Taint {
  std::string key;
  std::string value;

  bool operator==(const Taint&) const = default;
};

enum class Health : std::uint8_t {
  kReady,
  kCordoned,  // nothing new is placed; what runs stays
  kLost,      // no sign of life: its replicas are gone
};

struct Node {
  std::string name;
  Health health = Health::kReady;
  base::MilliCpu cpu;     // allocatable
  base::Bytes memory;     // allocatable
  std::vector<Gpu> gpus;  // position in this list is the GPU's index everywhere
  std::map<std::string, std::string> labels;
  std::string trouble;  // why the machine itself takes nothing new; empty: it does
  std::vector<Taint> taints;

  bool operator==(const Node&) const = default;
};

}  // namespace pondage::fleet
