// The processes below a process, read from /proc, and signals that hit the one that was meant.
//
// Any thread; nothing is kept between calls.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pondage::shim {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
  char state = '?';
  std::uint64_t started = 0;  // clock ticks since boot: with the pid it names one process for ever
  std::uint64_t cpu_ticks = 0;  // user + system, with those of its waited-for children
  std::int64_t resident_pages = 0;
};

// One line of /proc/PID/stat. None when it is not one (the process is gone, or the line is odd).
std::optional<Process> ParseStat(std::string_view line);
std::optional<Process> ReadProcess(pid_t pid);
std::vector<Process> ReadProcesses();

// Those of `all` that descend from `root`, parents before children, without `root`.
std::vector<Process> Below(pid_t root, const std::vector<Process>& all);

// Sends through a pidfd after checking that the pid still names this process. False: it is gone.
bool Signal(const Process& process, int signal);

}  // namespace pondage::shim
