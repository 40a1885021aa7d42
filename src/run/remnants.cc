#include "run/remnants.h"

#include <signal.h>
#include <unistd.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "shim/files.h"
#include "shim/process_tree.h"

namespace pondage::run {
namespace {

constexpr int kLooks = 100;
constexpr std::size_t kEnvironmentLimit = 4u << 20;

bool IsMarked(pid_t pid, std::string_view mark) {
  const auto text = shim::ReadFile("/proc/" + std::to_string(pid) + "/environ", kEnvironmentLimit);
  if (!text) return false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    if (rest.substr(0, end) == mark) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
  return false;
}

std::vector<shim::Process> Marked(std::string_view mark) {
  std::vector<shim::Process> marked;
  for (const shim::Process& process : shim::ReadProcesses()) {
    if (process.state != 'Z' && process.pid != getpid() && IsMarked(process.pid, mark)) {
      marked.push_back(process);
    }
  }
  return marked;
}

}  // namespace

bool KillRemnants(const std::string& uid) {
  const std::string mark = "PONDAGE_POD=" + uid;
  std::set<std::pair<pid_t, std::uint64_t>> stopped;
  for (int look = 0; look < kLooks; ++look) {
    const std::vector<shim::Process> found = Marked(mark);
    if (found.empty()) return true;
    bool fresh = false;
    for (const shim::Process& process : found) {
      if (!stopped.emplace(process.pid, process.started).second) continue;
      fresh = true;
      shim::Signal(process, SIGSTOP);
    }
    if (fresh) continue;  // look again before killing: what was forked meanwhile runs
    for (const shim::Process& process : found) shim::Signal(process, SIGKILL);
    usleep(1000);
  }
  return false;
}

}  // namespace pondage::run
