#include "run/cgroups.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "shim/files.h"

namespace pondage::run {
namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kLowestQuotaUs = 1000;
constexpr std::size_t kTextLimit = 4u << 20;

bool WriteText(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

bool MakeDirectory(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

bool RemoveDirectory(const std::string& path) {
  return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

base::Error NotSet(const std::string& path) {
  return {base::Kind::kUnavailable, "PND-R007", path,
          std::string("cannot be set: ") + std::strerror(errno)};
}

std::int64_t QuotaUs(base::MilliCpu cpu) {
  return std::max(cpu.value * (kPeriodUs / 1000), kLowestQuotaUs);
}

void KillMembers(const std::string& group) {
  const std::string text = shim::ReadFile(group + "/cgroup.procs", kTextLimit).value_or("");
  for (const std::string_view line : Split(text, '\n')) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 1) kill(pid, SIGKILL);
  }
}

struct MountPoint {
  std::string path;
  std::string type;
  std::vector<std::string> options;
};

std::vector<MountPoint> CgroupMounts(std::string_view mount_info) {
  std::vector<MountPoint> mounts;
  for (const std::string_view line : Split(mount_info, '\n')) {
    // "36 35 98:0 /root /mount/point options [tags] - type source super-options"
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto front = Split(line.substr(0, dash), ' ');
    const auto back = Split(line.substr(dash + 3), ' ');
    if (front.size() < 5 || back.size() < 3 || !back[0].starts_with("cgroup")) continue;
    MountPoint mount{std::string(front[4]), std::string(back[0]), {}};
    for (const std::string_view option : Split(back[2], ',')) mount.options.emplace_back(option);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

class NoCgroups : public Cgroups {
 public:
  explicit NoCgroups(std::string why) : why_(std::move(why)) {}

  LimitsReport Report() const override { return {"none", false, false, false, why_}; }
  base::Result<Group> Make(const std::string&, const GroupLimits&) override { return Group{}; }
  void Kill(const std::string&) override {}
  bool Remove(const std::string&) override { return true; }

 private:
  std::string why_;
};

class Version2 : public Cgroups {
 public:
  // `parent` is ours: its sub-groups have the controllers of `report`.
  Version2(std::string parent, LimitsReport report)
      : parent_(std::move(parent)), report_(std::move(report)) {}

  LimitsReport Report() const override { return report_; }

  base::Result<Group> Make(const std::string& uid, const GroupLimits& limits) override {
    const std::string group = parent_ + "/" + uid;
    if (!MakeDirectory(group)) return std::unexpected(NotSet(group));
    if (report_.memory && limits.memory.value > 0) {
      const std::string file = group + "/memory.max";
      if (!WriteText(file, std::to_string(limits.memory.value)))
        return std::unexpected(NotSet(file));
      WriteText(group + "/memory.swap.max", "0");
      WriteText(group + "/memory.oom.group", "1");
    }
    if (report_.cpu && limits.cpu.value > 0) {
      const std::string file = group + "/cpu.max";
      const std::string quota =
          std::to_string(QuotaUs(limits.cpu)) + " " + std::to_string(kPeriodUs);
      if (!WriteText(file, quota)) return std::unexpected(NotSet(file));
    }
    if (report_.pids && limits.pids > 0) {
      const std::string file = group + "/pids.max";
      if (!WriteText(file, std::to_string(limits.pids))) return std::unexpected(NotSet(file));
    }
    Group made;
    made.directories = {group};
    if (report_.memory) made.oom_file = group + "/memory.events";
    made.kill_file = group + "/cgroup.kill";
    return made;
  }

  void Kill(const std::string& uid) override {
    const std::string group = parent_ + "/" + uid;
    if (!WriteText(group + "/cgroup.kill", "1")) KillMembers(group);
  }
  bool Remove(const std::string& uid) override { return RemoveDirectory(parent_ + "/" + uid); }

 private:
  std::string parent_;
  LimitsReport report_;
};

class Version1 : public Cgroups {
 public:
  // By controller, the directory that is ours there.
  Version1(std::map<std::string, std::string> parents, LimitsReport report)
      : parents_(std::move(parents)), report_(std::move(report)) {}

  LimitsReport Report() const override { return report_; }

  base::Result<Group> Make(const std::string& uid, const GroupLimits& limits) override {
    Group made;
    for (const auto& [controller, parent] : parents_) {
      if (!IsWanted(controller, limits)) continue;
      const std::string group = parent + "/" + uid;
      if (!MakeDirectory(group)) return std::unexpected(NotSet(group));
      TRY_DO(SetLimit(controller, group, limits));
      if (controller == "memory") made.oom_file = group + "/memory.oom_control";
      if (controller == "freezer") made.freezer = group;
      if (std::ranges::find(made.directories, group) == made.directories.end()) {
        made.directories.push_back(group);  // controllers may share a tree
      }
    }
    return made;
  }

  void Kill(const std::string& uid) override {
    const auto freezer = parents_.find("freezer");
    if (freezer != parents_.end())
      WriteText(freezer->second + "/" + uid + "/freezer.state", "FROZEN");
    for (const auto& [controller, parent] : parents_) KillMembers(parent + "/" + uid);
    if (freezer != parents_.end())
      WriteText(freezer->second + "/" + uid + "/freezer.state", "THAWED");
  }

  bool Remove(const std::string& uid) override {
    bool removed = true;
    for (const auto& [controller, parent] : parents_) {
      removed = RemoveDirectory(parent + "/" + uid) && removed;
    }
    return removed;
  }

 private:
  // A group without a limit is no gift: in `cpu` all in it have the weight of one process beside
  // it.
  static bool IsWanted(const std::string& controller, const GroupLimits& limits) {
    if (controller == "memory") return limits.memory.value > 0;
    if (controller == "cpu") return limits.cpu.value > 0;
    return true;
  }

  static base::Result<void> SetLimit(const std::string& controller, const std::string& group,
                                     const GroupLimits& limits) {
    if (controller == "memory" && limits.memory.value > 0) {
      const std::string file = group + "/memory.limit_in_bytes";
      const std::string bytes = std::to_string(limits.memory.value);
      WriteText(group + "/memory.memsw.limit_in_bytes",
                "-1");  // of a start before: it must not be lower
      if (!WriteText(file, bytes)) return std::unexpected(NotSet(file));
      WriteText(group + "/memory.memsw.limit_in_bytes", bytes);
    }
    if (controller == "cpu" && limits.cpu.value > 0) {
      const std::string file = group + "/cpu.cfs_quota_us";
      WriteText(group + "/cpu.cfs_period_us", std::to_string(kPeriodUs));
      if (!WriteText(file, std::to_string(QuotaUs(limits.cpu))))
        return std::unexpected(NotSet(file));
    }
    if (controller == "pids" && limits.pids > 0) {
      const std::string file = group + "/pids.max";
      if (!WriteText(file, std::to_string(limits.pids))) return std::unexpected(NotSet(file));
    }
    return {};
  }

  std::map<std::string, std::string> parents_;
  LimitsReport report_;
};

void SayWhatIsMissing(LimitsReport& report) {
  std::string missing;
  const std::pair<bool, const char*> parts[] = {
      {report.memory, "memory"}, {report.cpu, "cpu"}, {report.pids, "pids"}};
  for (const auto& [present, name] : parts) {
    if (!present) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  if (!missing.empty()) report.why = "not available to this account here: " + missing;
}

// As root at the top of the tree; else at the highest group above this process that is this
// account's (systemd gives users a part of the tree of their own).
std::string Version2Base(const CgroupPlace& place, const std::string& mount) {
  if (place.is_root) return mount;
  for (const std::string_view line : Split(place.own_groups, '\n')) {
    if (!line.starts_with("0::/")) continue;
    std::string base;
    std::string path = mount + std::string(line.substr(3));
    while (path.size() > mount.size()) {
      if (access(path.c_str(), W_OK) == 0 && access((path + "/cgroup.procs").c_str(), W_OK) == 0)
        base = path;
      path.resize(path.rfind('/'));
    }
    return base;
  }
  return "";
}

std::unique_ptr<Cgroups> FindVersion2(const CgroupPlace& place,
                                      const std::vector<MountPoint>& mounts) {
  for (const MountPoint& mount : mounts) {
    if (mount.type != "cgroup2") continue;
    const std::string base = Version2Base(place, mount.path);
    if (base.empty()) continue;
    const std::string parent = base + "/" + place.name;
    if (!MakeDirectory(parent)) continue;
    LimitsReport report{"v2", false, false, false, ""};
    const std::pair<const char*, bool*> controllers[] = {
        {"memory", &report.memory}, {"cpu", &report.cpu}, {"pids", &report.pids}};
    for (const auto& [name, present] : controllers) {
      // Alone, since one that is missing would refuse them all.
      const std::string enable = std::string("+") + name;
      WriteText(base + "/cgroup.subtree_control", enable);
      *present = WriteText(parent + "/cgroup.subtree_control", enable);
    }
    if (!report.memory && !report.cpu && !report.pids) {
      rmdir(parent.c_str());
      continue;
    }
    SayWhatIsMissing(report);
    return std::make_unique<Version2>(parent, report);
  }
  return nullptr;
}

std::unique_ptr<Cgroups> FindVersion1(const CgroupPlace& place,
                                      const std::vector<MountPoint>& mounts) {
  std::map<std::string, std::string> parents;
  for (const std::string controller : {"memory", "cpu", "pids", "freezer"}) {
    for (const MountPoint& mount : mounts) {
      const std::string parent = mount.path + "/" + place.name;
      if (mount.type != "cgroup" ||
          std::ranges::find(mount.options, controller) == mount.options.end() ||
          !MakeDirectory(parent) || access((parent + "/cgroup.procs").c_str(), W_OK) != 0) {
        continue;
      }
      parents[controller] = parent;
    }
  }
  LimitsReport report{"v1", parents.contains("memory"), parents.contains("cpu"),
                      parents.contains("pids"), ""};
  if (!report.memory && !report.cpu && !report.pids) return nullptr;
  SayWhatIsMissing(report);
  return std::make_unique<Version1>(std::move(parents), report);
}

}  // namespace

CgroupPlace ThisMachine() {
  CgroupPlace place;
  place.mount_info = shim::ReadFile("/proc/self/mountinfo", kTextLimit).value_or("");
  place.own_groups = shim::ReadFile("/proc/self/cgroup", kTextLimit).value_or("");
  place.is_root = geteuid() == 0;
  return place;
}

std::unique_ptr<Cgroups> FindCgroups(const CgroupPlace& place) {
  const std::vector<MountPoint> mounts = CgroupMounts(place.mount_info);
  if (auto found = FindVersion2(place, mounts)) return found;
  if (auto found = FindVersion1(place, mounts)) return found;
  return std::make_unique<NoCgroups>(mounts.empty()
                                         ? "this machine has no control groups"
                                         : "no control group here may be changed by this account");
}

}  // namespace pondage::run
