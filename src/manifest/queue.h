// Queue (`pondage.dev/v1alpha1`), Node and PriorityClass objects: bytes <-> domain values.
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/node.h"
#include "job/validate.h"
#include "queue/tree.h"

namespace pondage::manifest {

base::Result<queue::Spec> DecodeQueue(std::string_view bytes);
std::vector<job::FieldError> ValidateQueue(const boost::json::object& queue);
// status: used, borrowed, lent, waiting, running
boost::json::object QueueStatus(base::MilliGpu used, base::MilliGpu borrowed, int waiting,
                                int running);
boost::json::object DefaultQueue(base::Instant now);

// The Node object of this machine; GPUs, driver and versions in labels, capacity and
// annotation pondage.dev/gpus.
struct MachineFacts {
  std::string driver, cuda, kernel, os_image, address;
};
boost::json::object MakeNode(const fleet::Node& node, const MachineFacts& machine,
                             base::Instant now);
base::Result<fleet::Node> DecodeNode(std::string_view bytes);

base::Result<int> DecodePriorityClass(std::string_view bytes);

}  // namespace pondage::manifest
