// Starts the program of a spec as a child: groups, account, limits, exact arguments.
//
// One thread (it forks). The child gets its own session, default signals, /dev/null as input, and
// the given descriptor as output and error; it dies with the shim.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "shim/wire.h"

namespace pondage::shim {

// Why there is no program. Codes as in Ended.
struct StartFailure {
  int code = 128;
  std::string message;
  std::string id = "PND-R007";  // of the message catalogue
};
struct StartedProgram {
  pid_t pid = 0;
  std::optional<StartFailure> failure;
};

// Where argv[0] could lie: itself when it has a slash, else below each directory of PATH in `env`.
std::vector<std::string> Candidates(const Spec& spec);

StartedProgram StartProgram(const Spec& spec, int output);

}  // namespace pondage::shim
