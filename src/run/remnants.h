// Processes of a replica whose shim is gone: nothing of them may run on beside the next holder of
// its GPUs.
//
// Any thread. They are known by PONDAGE_POD in their environment, which children inherit.
#pragma once

#include <string>

namespace pondage::run {

// Stops and kills them, look after look. False when some are still there (in the kernel's hands).
bool KillRemnants(const std::string& uid);

}  // namespace pondage::run
