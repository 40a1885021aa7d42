// Which paths no volume may be mounted at.
//
// Values; any thread.
#pragma once

#include <string_view>
#include <vector>

namespace pondage::base {

// The parts of a path as the kernel walks it: doubled slashes and "." are nothing.
inline std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

// Whether what is mounted at `target` would stand at or over `path`.
inline bool Covers(std::string_view target, std::string_view path) {
  const auto over = PartsOf(target);
  const auto under = PartsOf(path);
  if (over.size() > under.size()) return false;
  for (std::size_t i = 0; i < over.size(); ++i) {
    if (over[i] != under[i]) return false;
  }
  return true;
}

// The program's watcher finds the processes below it in /proc and its limits in /sys; /dev holds
// the GPUs, but /dev/shm and the like may be a volume. Without /usr and what belongs to it nothing
// starts, without /etc no name is known; what lies in them may be a volume.
inline bool HidesTheSystem(std::string_view target) {
  for (const std::string_view whole :
       {"/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    if (Covers(target, whole)) return true;
  }
  return Covers("/proc", target) || Covers("/sys", target);
}

}  // namespace pondage::base
