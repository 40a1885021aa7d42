#include "run/mount_plan.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/mount_target.h"
#include "run/touching.h"

namespace pondage::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntries = 4096;
constexpr const char* kOtherKind =
    "is a file where its source is a directory, or the other way round";

base::Error Problem(const std::string& target, const std::string& message) {
  return {base::Kind::kInvalid, "PND-R005", target, message};
}

bool IsPlainPath(const fs::path& path) {
  return path.is_absolute() && std::ranges::none_of(path, [](const fs::path& part) {
           return part == "." || part == "..";
         });
}

std::string Without(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// The target with the links of its existing part resolved, since bubblewrap binds onto real paths.
base::Result<fs::path> Resolve(const std::string& target) {
  std::error_code error;
  const Touching touching(target);
  const std::string plain = Without(target);
  if (!IsPlainPath(plain) || plain == "/") {
    return std::unexpected(Problem(target, "is no absolute path below /"));
  }
  fs::path resolved = fs::weakly_canonical(plain, error);
  if (error) return std::unexpected(Problem(target, "cannot be resolved: " + error.message()));
  return resolved;
}

fs::path NearestExisting(fs::path path) {
  std::error_code error;
  while (!fs::exists(fs::symlink_status(path, error))) path = path.parent_path();
  return path;
}

// A target inside the mount `outer`: found there without a link on the way, which would lead
// bubblewrap out of it, and not to be made in what is not the replica's own.
base::Result<void> FindInside(const port::Mount& outer, const fs::path& inner,
                              const port::Mount& mount) {
  fs::path place = outer.source;
  struct stat status{};
  for (const fs::path& part : inner) {
    place /= part;
    if (lstat(place.c_str(), &status) != 0) {
      if (outer.own) return {};
      return std::unexpected(Problem(
          mount.target, "does not exist in " + outer.source +
                            ", which is mounted around it: nothing is made there for a mount"));
    }
    if (S_ISLNK(status.st_mode)) {
      return std::unexpected(Problem(mount.target, "passes through the link " + place.string()));
    }
  }
  std::error_code error;
  if (S_ISDIR(status.st_mode) != fs::is_directory(mount.source, error)) {
    return std::unexpected(Problem(mount.target, kOtherKind));
  }
  return {};
}

// Nobody but root, or this server, can make the path lead elsewhere; what lies in it others may
// change.
bool Stays(const fs::path& path) {
  const auto ours = [](const struct stat& status) {
    return status.st_uid == 0 || status.st_uid == geteuid();
  };
  for (fs::path part = path; part != part.root_path(); part = part.parent_path()) {
    struct stat status{}, parent{};
    if (lstat(part.c_str(), &status) != 0 || lstat(part.parent_path().c_str(), &parent) != 0)
      return false;
    const bool others_write = (parent.st_mode & 022) != 0;
    const bool kept = (parent.st_mode & S_ISVTX) != 0 && ours(status);
    if (!ours(parent) || (others_write && !kept)) return false;
  }
  return true;
}

// ... nor change what lies in it.
bool OnlyRootChanges(const fs::path& path) {
  for (fs::path part = path;; part = part.parent_path()) {
    struct stat status{};
    if (lstat(part.c_str(), &status) != 0 || status.st_uid != 0 || (status.st_mode & 022) != 0)
      return false;
    if (part == part.root_path()) return true;
  }
}

class Plan {
 public:
  explicit Plan(bool root_for_another) : root_for_another_(root_for_another) {}

  base::Result<void> Add(const port::Mount& mount, const fs::path& resolved,
                         const std::string& working_dir) {
    std::error_code error;
    const Touching touching(mount.source);
    const bool is_directory = fs::is_directory(mount.source, error);
    if (!is_directory && !fs::exists(mount.source, error)) {
      return std::unexpected(Problem(
          mount.target, "cannot be mounted: its source " + mount.source + " does not exist"));
    }
    if (base::HidesTheSystem(resolved.string())) {
      return std::unexpected(Problem(mount.target, "would hide the system's own files"));
    }
    if (resolved == fs::path(Without(mount.source)) && !mount.read_only) return {};

    if (const fs::path around = MountAround(resolved); !around.empty()) {
      if (root_for_another_) {
        TRY_DO(FindInside(mounts_.at(around), resolved.lexically_relative(around), mount));
      }
    } else if (!fs::exists(resolved, error)) {
      const fs::path parent = NearestExisting(resolved);
      if (!fs::is_directory(parent, error)) {
        return std::unexpected(Problem(mount.target, parent.string() + " is no directory"));
      }
      if (parent != "/" && parent == fs::path(Without(working_dir))) {
        return std::unexpected(Problem(
            mount.target,
            "does not exist, and what the program writes beside it in its working directory "
            "would be lost: make the directory first"));
      }
      if (root_for_another_ && !Stays(parent)) {
        return std::unexpected(
            Problem(mount.target, "does not exist, and others than root can change the way to " +
                                      parent.string() + ": make the directory first"));
      }
      rebuilt_.insert(parent);
    } else if (is_directory != fs::is_directory(resolved, error)) {
      return std::unexpected(Problem(mount.target, kOtherKind));
    }
    if (!mounts_.emplace(resolved, mount).second) {
      return std::unexpected(Problem(mount.target, "is mounted twice"));
    }
    return {};
  }

  base::Result<MountPlan> Words() && {
    if (mounts_.empty()) return MountPlan{};
    std::vector<std::string> words;
    if (!rebuilt_.contains("/")) words = {"--dev-bind", "/", "/"};
    for (const fs::path& directory : rebuilt_) {  // a path sorts before what lies below it
      TRY_DO(Rebuild(directory, words));
    }
    MountPlan plan;
    for (const auto& [target, mount] : mounts_) {
      if (root_for_another_) {
        TRY(const port::FileId file, FileAt(mount));
        plan.volumes.push_back({{file, mount.source}, target, mount.read_only});
        continue;
      }
      words.insert(words.end(),
                   {mount.read_only ? "--ro-bind" : "--bind", mount.source, target.string()});
      if (mount.expected) expected_.push_back({*mount.expected, target});
    }
    plan.words = std::move(words);
    plan.expected = std::move(expected_);
    return plan;
  }

 private:
  // The nearest mount of this replica that the path lies in; empty: none.
  fs::path MountAround(const fs::path& path) const {
    for (fs::path parent = path.parent_path(); parent != parent.root_path();
         parent = parent.parent_path()) {
      if (mounts_.contains(parent)) return parent;
    }
    return {};
  }

  // What was allowed, else what is there.
  static base::Result<port::FileId> FileAt(const port::Mount& mount) {
    if (mount.expected) return *mount.expected;
    const Touching touching(mount.source);
    struct stat status{};
    if (stat(mount.source.c_str(), &status) != 0)
      return std::unexpected(
          Problem(mount.target, "cannot be mounted: " + mount.source + " was changed meanwhile"));
    return port::FileId{status.st_dev, status.st_ino};
  }

  base::Result<void> Rebuild(const fs::path& directory, std::vector<std::string>& words) {
    const Touching touching(directory.string());
    struct stat status{};
    if (stat(directory.c_str(), &status) != 0) {
      return std::unexpected(Problem(directory, "cannot be read"));
    }
    if (directory != "/") {
      std::array<char, 8> mode;
      std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777u);
      words.insert(words.end(), {"--perms", mode.data(), "--tmpfs", directory.string()});
    }
    const bool may_change = root_for_another_ && !OnlyRootChanges(directory);
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (++count > kEntries) {
        return std::unexpected(Problem(
            directory,
            "has too many entries to mount something new into it: make the directory first"));
      }
      const std::string path = entry->path().string();
      std::error_code link_error;
      if (entry->is_symlink(link_error)) {
        words.insert(words.end(), {"--symlink", fs::read_symlink(path, link_error).string(), path});
      } else {
        words.insert(words.end(), {"--dev-bind", path, path});
        if (may_change) TRY_DO(ExpectItself(path));
      }
    }
    if (error) return std::unexpected(Problem(directory, "cannot be listed: " + error.message()));
    return {};
  }

  // What is bound again where it lies. A link that came in its place meanwhile is not followed
  // here.
  base::Result<void> ExpectItself(const std::string& path) {
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode))
      return std::unexpected(Problem(path, "was changed meanwhile"));
    if (!mounts_.contains(path) && !rebuilt_.contains(path))
      expected_.push_back({{status.st_dev, status.st_ino}, path});
    return {};
  }

  const bool root_for_another_;
  std::vector<MountPlan::Expected> expected_;
  std::map<fs::path, port::Mount> mounts_;  // by resolved target
  std::set<fs::path> rebuilt_;
};

}  // namespace

base::Result<MountPlan> PlanMounts(std::vector<port::Mount> mounts, const std::string& working_dir,
                                   bool root_for_another) {
  std::vector<std::pair<fs::path, port::Mount>> resolved;
  for (port::Mount& mount : mounts) {
    TRY(fs::path target, Resolve(mount.target));
    resolved.emplace_back(std::move(target), std::move(mount));
  }
  // Parents before children, so that a child can lie inside.
  std::ranges::sort(resolved);
  Plan plan(root_for_another);
  for (const auto& [target, mount] : resolved) TRY_DO(plan.Add(mount, target, working_dir));
  return std::move(plan).Words();
}

std::string WhyNoMounts(const std::string& bwrap) {
  const std::string command = "'" + bwrap + "' --ro-bind / / true 2>&1 < /dev/null";
  FILE* const output = popen(command.c_str(), "re");
  if (output == nullptr) return "cannot run " + bwrap;
  std::array<char, 512> line{};
  std::string said;
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    if (said.empty()) said = line.data();
  }
  const int status = pclose(output);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (status == 0) return "";
  return said.empty() ? bwrap + " failed" : said;
}

}  // namespace pondage::run
