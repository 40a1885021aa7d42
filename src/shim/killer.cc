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

}  // namespace

void SignalTree(int signal) {
  for (const Process& process : Below(getpid(), ReadProcesses())) Signal(process, signal);
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
  std::set<std::pair<pid_t, std::uint64_t>> stopped;
  std::vector<Process> tree;
  for (int look = 0; look < kStopLooks; ++look) {
    tree = Below(getpid(), ReadProcesses());
    bool fresh = false;
    for (const Process& process : tree) {
      if (process.state == 'Z' || !stopped.emplace(process.pid, process.started).second) continue;
      fresh = true;
      Signal(process, SIGSTOP);
    }
    if (!fresh) break;
  }
  for (const Process& process : tree) Signal(process, SIGKILL);
}

}  // namespace pondage::shim
