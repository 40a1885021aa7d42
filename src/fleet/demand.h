// What one replica asks of a machine, and what it was given.
//
// Values; any thread. Requests come from the main container's resources (limits where there are no
// requests), summed over the Pod's containers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/quantity.h"

namespace pondage::fleet {

// One term of a node affinity: the node's label `key` is one of `values`, or is not.
struct Term {
  enum class Is : std::uint8_t { kIn, kNotIn, kPresent, kAbsent };
  std::string key;
  Is is = Is::kIn;
  std::vector<std::string> values;

  auto operator<=>(const Term&) const = default;
};

// A taint that does not keep this replica away. Empty key: none does. `any_value`: whatever value.
struct Toleration {
  std::string key;
  std::string value;
  bool any_value = false;

  auto operator<=>(const Toleration&) const = default;
};

struct Demand {
  int gpus = 0;          // whole GPUs (`nvidia.com/gpu`); with a share: 1
  std::string gpu_type;  // required type; empty: any
  base::MilliCpu cpu;
  base::Bytes memory;
  std::map<std::string, std::string> node_selector;  // labels that the node must carry
  std::vector<std::string> or_types;                 // further types that do, the better first
  // A part of one GPU instead of whole ones, when either is set. What counts is the larger of the
  // compute share and the part of the device's memory.
  base::MilliGpu share;
  base::Bytes gpu_memory;
  std::vector<Term> affinity;  // all must hold
  std::vector<Toleration> tolerations;

  bool IsPart() const { return share.value > 0 || gpu_memory.value > 0; }
  auto operator<=>(const Demand&) const = default;
};

// A part of one node that belongs to one replica until it is released.
struct Grant {
  std::string node;
  std::vector<int> gpus;  // indices into Node::gpus, ascending
  base::MilliCpu cpu;
  base::Bytes memory;
  base::MilliGpu share;  // what is charged of its one GPU; 0: whole GPUs

  // Quota charged.
  base::MilliGpu Charge() const {
    return share.value > 0 ? share : base::WholeGpus(static_cast<std::int64_t>(gpus.size()));
  }
  bool operator==(const Grant&) const = default;
};

}  // namespace pondage::fleet
