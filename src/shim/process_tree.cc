#include "shim/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>

namespace pondage::shim {
namespace {

// Fields behind the command name, numbered as in proc(5): 3 is the state.
constexpr std::size_t kFirstField = 3;
constexpr std::size_t kFields = 22;
enum Field : std::size_t {
  kState = 3,
  kParent = 4,
  kSession = 6,
  kUser = 14,
  kSystem = 15,
  kChildUser = 16,
  kChildSystem = 17,
  kStarted = 22,
  kResident = 24,
};

template <class T>
bool Number(std::string_view text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::optional<Process> ParseStat(std::string_view line) {
  // The name may hold spaces and parentheses: the last one closes it.
  const std::size_t open = line.find(" (");
  const std::size_t close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  std::array<std::string_view, kFields> fields;
  std::string_view rest = line.substr(close + 2);
  std::size_t count = 0;
  while (count < kFields && !rest.empty()) {
    const std::size_t space = rest.find_first_of(" \n");
    fields[count++] = rest.substr(0, space);
    rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
  }
  if (count < kFields) return std::nullopt;
  const auto field = [&](std::size_t number) { return fields[number - kFirstField]; };

  Process process;
  std::uint64_t user = 0, system = 0, child_user = 0, child_system = 0;
  if (!Number(line.substr(0, open), process.pid) || !Number(field(kParent), process.parent) ||
      !Number(field(kSession), process.session) || !Number(field(kUser), user) ||
      !Number(field(kSystem), system) || !Number(field(kChildUser), child_user) ||
      !Number(field(kChildSystem), child_system) || !Number(field(kStarted), process.started) ||
      !Number(field(kResident), process.resident_pages)) {
    return std::nullopt;
  }
  process.state = field(kState).empty() ? '?' : field(kState).front();
  process.cpu_ticks = user + system + child_user + child_system;
  return process;
}

std::optional<Process> ReadProcess(pid_t pid) {
  std::array<char, 32> path;
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> text;
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  if (size <= 0) return std::nullopt;
  return ParseStat({text.data(), static_cast<std::size_t>(size)});
}

std::vector<Process> ReadProcesses() {
  std::vector<Process> processes;
  DIR* const directory = opendir("/proc");
  if (directory == nullptr) return processes;
  while (const dirent* const entry = readdir(directory)) {
    pid_t pid = 0;
    if (!Number(std::string_view(entry->d_name), pid)) continue;
    if (auto process = ReadProcess(pid)) processes.push_back(*process);
  }
  closedir(directory);
  return processes;
}

std::vector<Process> Below(pid_t root, const std::vector<Process>& all) {
  std::vector<Process> by_parent = all;
  const auto parent = [](const Process& process) { return std::pair(process.parent, process.pid); };
  std::ranges::sort(by_parent, {}, parent);

  std::vector<Process> below;
  std::size_t next = 0;
  for (pid_t from = root;; from = below[next++].pid) {
    auto child = std::ranges::lower_bound(by_parent, std::pair(from, pid_t{0}), {}, parent);
    for (; child != by_parent.end() && child->parent == from; ++child) {
      // A pid that was used again while we read could close a circle.
      if (below.size() < all.size() && child->pid != root) below.push_back(*child);
    }
    if (next == below.size()) break;
  }
  return below;
}

bool Signal(const Process& process, int signal) {
  // By number: the C library's header has no C linkage in the releases we build with.
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (handle < 0) return false;
  const auto now = ReadProcess(process.pid);
  const bool same = now && now->started == process.started;
  const bool sent = same && syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0;
  close(handle);
  return sent;
}

}  // namespace pondage::shim
