// How an error reaches the person and the shell: its lines on stderr and its exit code.
//
// Pure; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "terminal/screen.h"

namespace pondage::terminal {

// Exit codes of commands that do not stand for a job.
enum Exit : int {
  kDone = 0,
  kNegative = 1,
  kUsage = 2,
  kNotFound = 3,
  kNotAllowed = 4,
  kNotReached = 5,
  kTimedOut = 6,
  kConflict = 7,
};
// Of commands that stand for a job, beside the program's own.
constexpr int kPondageFailed = 125;
constexpr int kDetached = 130;

int ExitCodeOf(const base::Error& error);

// "error PND-Q012: what", the lines of why, `try:` and the page; for stderr, line end included.
// The first line of the message is what happened, further ones are why.
std::string TroubleText(const base::Error& error, const Screen& screen);

}  // namespace pondage::terminal
