// What one replica asks of a machine, and what it was given.
//
// Values; any thread. Requests come from the main container's resources (limits where there are no
// requests), summed over the Pod's containers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/quantity.h"

namespace pondage::fleet {

struct Demand {
  int gpus = 0;          // whole GPUs (`nvidia.com/gpu`)
  std::string gpu_type;  // required type; empty: any
  base::MilliCpu cpu;
  base::Bytes memory;
  std::map<std::string, std::string> node_selector;  // labels that the node must carry

  auto operator<=>(const Demand&) const = default;
};

// A part of one node that belongs to one replica until it is released.
struct Grant {
  std::string node;
  std::vector<int> gpus;  // indices into Node::gpus, ascending
  base::MilliCpu cpu;
  base::Bytes memory;

  bool operator==(const Grant&) const = default;
};

}  // namespace pondage::fleet
