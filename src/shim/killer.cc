#include "shim/killer.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "shim/process_tree.h"

namespace pondage::shim {
namespace {

constexpr int kStopLooks = 50;

void WriteTo(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, text.data(), text.size());
  close(file);
}

std::vector<pid_t> Members(const std::string& group) {
  std::vector<pid_t> members;
  const std::string path = group + "/cgroup.procs";
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  int pid = 0;
  while (file && std::fscanf(file.get(), "%d", &pid) == 1) members.push_back(pid);
  return members;
}

// Those below this process that `is_meant` picks.
template <class IsMeant>
void StopAndKill(const IsMeant& is_meant) {
  std::set<std::pair<pid_t, std::uint64_t>> stopped;
  std::vector<Process> meant;
  for (int look = 0; look < kStopLooks; ++look) {
    meant = Below(getpid(), ReadProcesses());
    std::erase_if(meant, [&](const Process& process) { return !is_meant(process); });
    bool fresh = false;
    for (const Process& process : meant) {
      if (process.state == 'Z' || !stopped.emplace(process.pid, process.started).second) continue;
      fresh = true;
      Signal(process, SIGSTOP);
    }
    if (!fresh) break;
  }
  for (const Process& process : meant) Signal(process, SIGKILL);
}

}  // namespace

void SignalTree(int signal) {
  for (const Process& process : Below(getpid(), ReadProcesses())) Signal(process, signal);
}

void KillSessions(const std::set<pid_t>& sessions) {
  StopAndKill([&](const Process& process) { return sessions.contains(process.session); });
}

void Killer::KillGroup() {
  if (!kill_file_.empty()) WriteTo(kill_file_, "1");
  if (freezer_.empty()) return;
  WriteTo(freezer_ + "/freezer.state", "FROZEN");  // nothing forks between the look and the signal
  for (const pid_t pid : Members(freezer_)) kill(pid, SIGKILL);
  WriteTo(freezer_ + "/freezer.state", "THAWED");
}

void Killer::Round() {
  KillGroup();
  StopAndKill([](const Process&) { return true; });
}

}  // namespace pondage::shim
