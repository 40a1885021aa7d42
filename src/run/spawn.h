// Starts a shim as a child of this process that is in its own session and outlives it.
//
// Any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace pondage::run {

struct Spawn {
  std::vector<std::string> argv;  // argv[0]: path of the program
  std::string directory;          // to start it in
  std::string error_file;         // takes its standard error
  int lock = -1;                  // becomes its descriptor 3
  int arguments = -1;             // becomes its descriptor 4; -1: none
};

base::Result<pid_t> SpawnShim(const Spawn& spawn);

}  // namespace pondage::run
