// Starts the program of a spec as a child: groups, account, limits, exact arguments.
//
// One thread (it forks). The child gets its own session, default signals and the given streams; it
// dies with the shim.
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

// Above 2; they stay the caller's.
struct Streams {
  int in = -1;  // -1: the null device
  int out = -1;
  int err = -1;
  bool terminal = false;  // `in` becomes its controlling terminal
};

// Where argv[0] could lie: itself when it has a slash, else below each directory of PATH in `env`.
std::vector<std::string> Candidates(const Spec& spec);

// Returns when the program runs, or why it does not.
StartedProgram StartProgram(const Spec& spec, int output);

// Returns at once. When the child has ended, WhyNot() says whether the program ever ran.
struct Forked {
  pid_t pid = -1;   // -1: errno says why
  int report = -1;  // to be closed by the caller
};
Forked ForkProgram(const Spec& spec, const Streams& streams);
std::optional<StartFailure> WhyNot(const Spec& spec, int report);

}  // namespace pondage::shim
