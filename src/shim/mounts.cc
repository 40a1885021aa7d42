#include "shim/mounts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shim/descriptor.h"

namespace pondage::shim {
namespace {

// By their numbers: not all C libraries that we build with have the calls of this file.
Descriptor OpenWithoutLinks(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return Descriptor(
      static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
}

std::string NameOf(const Descriptor& file) {
  struct stat there{};
  if (fstat(file.get(), &there) != 0) return "";
  return std::to_string(there.st_dev) + " " + std::to_string(there.st_ino) + " ";
}

bool IsMountRoot(const Descriptor& file) {
  struct statx there{};
  return statx(file.get(), "", AT_EMPTY_PATH, STATX_TYPE, &there) == 0 &&
         (there.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// The kind of file system that it lies on.
long KindOf(const std::string& path) {
  struct statfs there{};
  return statfs(path.c_str(), &there) == 0 ? static_cast<long>(there.f_type) : 0;
}

StartFailure Changed(std::string_view path) {
  return {128, "what is mounted at " + std::string(path) + " was changed meanwhile", "PND-R005"};
}

StartFailure Cannot(std::string_view path, const char* what) {
  return {128, std::string(path) + " cannot be " + what + ": " + std::strerror(errno), "PND-R005"};
}

// "DEVICE INODE PATH"
std::pair<std::string_view, std::string_view> Halves(std::string_view text) {
  const std::size_t path = std::min(text.find('/'), text.size());
  return {text.substr(0, path), text.substr(path)};
}

struct Volume {
  std::string source;  // "DEVICE INODE PATH"
  std::string target;
  bool read_only = false;
  Descriptor tree = Descriptor();  // detached
};

std::optional<Volume> Parse(std::string_view text) {
  const std::size_t middle = text.find('\0');
  if (middle == std::string_view::npos) return std::nullopt;
  const bool read_only = text.starts_with("ro ");
  return Volume{std::string(text.substr(3, middle - 3)), std::string(text.substr(middle + 1)),
                read_only};
}

// A copy of what is at its source, to be put in its place.
std::optional<StartFailure> Take(Volume& volume) {
  const auto [name, path] = Halves(volume.source);
  const std::string source(path);
  const Descriptor file(open(source.c_str(), O_PATH | O_CLOEXEC));
  if (!file || NameOf(file) != name) return Changed(volume.target);
  volume.tree = Descriptor(static_cast<int>(
      syscall(SYS_open_tree, file.get(), "",
              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE)));
  mount_attr attributes{};
  attributes.attr_set =
      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (volume.read_only ? MOUNT_ATTR_RDONLY : 0);
  if (!volume.tree || syscall(SYS_mount_setattr, volume.tree.get(), "",
                              AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) != 0) {
    return Cannot(volume.target, "mounted");
  }
  return std::nullopt;
}

// Makes what is missing on the way to it, and it. Each step is taken from the directory before it.
void MakeTarget(const std::string& target, bool directory) {
  Descriptor at(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string_view rest = target;
  while (at && !rest.empty()) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(part.size());
    if (part.empty()) return;
    if (rest.empty() && !directory) {
      const Descriptor made(
          openat(at.get(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      return;
    }
    mkdirat(at.get(), part.c_str(), 0755);
    at = Descriptor(openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
}

std::optional<StartFailure> Put(const Volume& volume) {
  struct stat source{};
  if (fstat(volume.tree.get(), &source) != 0) return Cannot(volume.target, "mounted");
  Descriptor target = OpenWithoutLinks(volume.target);
  if (!target && errno == ENOENT) {
    const mode_t before = umask(022);  // the program must get there
    MakeTarget(volume.target, S_ISDIR(source.st_mode));
    umask(before);
    target = OpenWithoutLinks(volume.target);
  }
  if (!target || syscall(SYS_move_mount, volume.tree.get(), "", target.get(), "",
                         MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return errno == ELOOP ? Changed(volume.target) : Cannot(volume.target, "mounted on");
  }
  return std::nullopt;
}

}  // namespace

std::optional<StartFailure> WhyNotExpected(const Spec& spec) {
  if (KindOf("/proc") != PROC_SUPER_MAGIC) return Changed("/proc");
  for (const std::string& group : spec.cgroups) {
    const long kind = KindOf(group);
    if (kind != CGROUP_SUPER_MAGIC && kind != CGROUP2_SUPER_MAGIC) return Changed(group);
  }
  for (const std::string& expected : spec.expected_files) {
    const auto [name, path] = Halves(expected);
    const Descriptor there = OpenWithoutLinks(std::string(path));
    if (!there || NameOf(there) != name || !IsMountRoot(there)) return Changed(path);
  }
  return std::nullopt;
}

std::optional<StartFailure> MountVolumes(const Spec& spec) {
  std::vector<Volume> volumes;
  for (const std::string& text : spec.mounts) {
    auto volume = Parse(text);
    if (!volume) return StartFailure{128, "its mounts cannot be read"};
    volumes.push_back(*std::move(volume));
  }
  // All sources first, as they are without these mounts.
  for (Volume& volume : volumes) {
    if (auto failure = Take(volume)) return failure;
  }
  for (const Volume& volume : volumes) {
    if (auto failure = Put(volume)) return failure;
  }
  return std::nullopt;
}

}  // namespace pondage::shim
