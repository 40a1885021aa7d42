// Pollux's jobs as rigid ones: fixed GPUs and global batch, packed four to a machine.
//
// Their length follows from the measured models of their applications: time of a step on that
// placement, and how much progress a step of that batch makes (gradient noise).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/workload.h"

namespace pondage::trace {

// The measured tables of one application, as text.
struct PolluxTables {
  std::string placements;
  std::string scalability;
  std::map<int, std::string> validation;  // by global batch
};

// Tables by application. An application without tables is an error.
base::Result<std::vector<Job>> Pollux(std::string_view jobs,
                                      const std::map<std::string, PolluxTables>& models);

}  // namespace pondage::trace
