// A short program run to its end for what it prints: no shell, a time limit, its errors dropped.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pondage::submission {

struct ProgramResult {
  int exit_code = 0;   // 128 + n for a signal
  std::string output;  // at most 1 MiB of it
  bool timed_out = false;
};

// None: it could not be started.
std::optional<ProgramResult> RunProgram(const std::vector<std::string>& words,
                                        std::chrono::milliseconds limit);

}  // namespace pondage::submission
