#include "run/remnants.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "shim/descriptor.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

namespace fs = std::filesystem;

constexpr int kLooks = 100;
constexpr std::size_t kEnvironmentLimit = 4u << 20;
constexpr std::size_t kInfoLimit = 64u << 10;

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

// Below it, without those that are ended or in the kernel's hands.
std::vector<shim::Process> Killable(const shim::Process& root) {
  std::vector<shim::Process> below = shim::Below(root.pid, shim::ReadProcesses());
  std::erase_if(below, [](const shim::Process& process) {
    return std::string_view("ZXD").contains(process.state);
  });
  return below;
}

// Look after look, until none is found. False: some are still there.
bool KillAll(const std::function<std::vector<shim::Process>()>& find) {
  std::set<std::pair<pid_t, std::uint64_t>> stopped;
  for (int look = 0; look < kLooks; ++look) {
    const std::vector<shim::Process> found = find();
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

std::string LinkOf(const std::string& path) {
  std::array<char, 4096> text;
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  return size <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
}

// By any of its descriptors: who may trace a shim can take its lock out of it.
bool HoldsLock(pid_t pid, const std::string& name) {
  const fs::path place = "/proc/" + std::to_string(pid);
  std::error_code error;
  for (fs::directory_iterator file(place / "fd", error), end; !error && file != end;
       file.increment(error)) {
    if (LinkOf(file->path()) != name) continue;
    const auto info = shim::ReadFile(place / "fdinfo" / file->path().filename(), kInfoLimit);
    if (info && info->contains("lock:")) return true;
  }
  return false;
}

}  // namespace

bool KillRemnants(const std::string& uid) {
  return KillAll([mark = "PONDAGE_POD=" + uid] { return Marked(mark); });
}

std::vector<shim::Process> HoldersOf(const std::string& lock) {
  // As the kernel calls it, whatever links lead there. Nothing of other processes is touched, which
  // may have opened files that hang.
  const shim::Descriptor file(open(lock.c_str(), O_PATH | O_CLOEXEC));
  const std::string name = file ? LinkOf("/proc/self/fd/" + std::to_string(file.get())) : "";
  std::vector<shim::Process> holders;
  if (name.empty()) return holders;
  for (const shim::Process& process : shim::ReadProcesses()) {
    if (process.pid != getpid() && HoldsLock(process.pid, name)) holders.push_back(process);
  }
  return holders;
}

bool IsStopped(const shim::Process& shim) {
  return shim.state == 'T' || shim.state == 't';
}

bool LeavesAlive(const shim::Process& shim) {
  return !Killable(shim).empty();
}

void KillTree(const shim::Process& shim) {
  KillAll([&shim] { return Killable(shim); });
  // Who is in the kernel's hands cannot be waited for, but dies when it comes back: once its shim
  // is gone, nobody would find it.
  for (const shim::Process& process : shim::Below(shim.pid, shim::ReadProcesses()))
    shim::Signal(process, SIGKILL);
  shim::Signal(shim, SIGKILL);
}

}  // namespace pondage::run
