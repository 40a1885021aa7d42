#include "run/preparer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "run/touching.h"

namespace pondage::run {

namespace {

// A shim that went there while it hangs could not be ended.
void LookAt(const std::string& path) {
  if (!path.starts_with('/')) return;
  const Touching touching(path);
  struct stat ignored{};
  stat(path.c_str(), &ignored);
}

}  // namespace

base::Result<Prepared> Preparer::Prepare(const std::string& uid, int start,
                                         const port::Runner::MakeLaunch& make) {
  Prepared prepared;
  TRY(prepared.launch, make());
  port::Launch& launch = prepared.launch;
  launch.uid = uid;
  launch.start = start;
  const ReplicaDir directory(data_dir_, uid);
  if (!directory.Make()) {
    return base::Fail(base::Kind::kUnavailable, "PND-R007", directory.path(), "cannot be made");
  }
  TRY(prepared.mounts, Mounts(launch, directory));
  LookAt(launch.working_dir);
  if (!launch.argv.empty()) LookAt(launch.argv.front());
  std::optional<Rights> rights;
  {
    const Touching touching("the database of users and groups");
    rights = RightsOf(launch);
  }
  if (rights) prepared.groups = rights->groups;
  if (!launch.checkpoint_dir.empty()) {
    // Before the program can add to it: a program may save within a millisecond.
    prepared.checkpoints =
        std::make_unique<CheckpointWatch>(uid, launch.checkpoint_dir, std::move(rights));
    prepared.checkpoints->PassOver();
  }
  return prepared;
}

base::Result<MountPlan> Preparer::Mounts(const port::Launch& launch, const ReplicaDir& directory) {
  if (launch.mounts.empty()) return MountPlan{};
  std::vector<port::Mount> mounts = launch.mounts;
  int number = 0;
  for (port::Mount& mount : mounts) {
    ++number;
    if (!mount.source.empty()) continue;
    mount.source = directory.File("volume-" + std::to_string(number));
    mount.own = true;
    mkdir(mount.source.c_str(), 0755);
    if (launch.user_id) {
      const auto group = static_cast<gid_t>(launch.group_id.value_or(gid_t(-1)));
      if (chown(mount.source.c_str(), *launch.user_id, group) != 0) {
        return base::Fail(base::Kind::kUnavailable, "PND-R007", mount.source,
                          "cannot be given to its user");
      }
    }
  }
  const bool root_for_another = launch.user_id.has_value() && geteuid() == 0;
  TRY(auto plan, PlanMounts(std::move(mounts), launch.working_dir, root_for_another));
  if (plan.words.empty()) return plan;
  const std::string why = AskWhyNoMounts();
  if (why.empty()) return plan;
  return base::Fail(
      base::Kind::kUnavailable, "PND-R004", "",
      "mounts need bubblewrap and user name spaces, which this machine refuses: " + why);
}

std::string Preparer::AskWhyNoMounts() {
  {
    const std::lock_guard lock(mutex_);
    if (why_no_mounts_) return *why_no_mounts_;
  }
  const Touching touching("bubblewrap");
  std::string why = WhyNoMounts(bwrap_);  // not under the lock: it may hang
  const std::lock_guard lock(mutex_);
  why_no_mounts_ = why;
  return why;
}

}  // namespace pondage::run
