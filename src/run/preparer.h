// What of a start is looked up and made before it: the launch, mounts, groups, what lies in its
// checkpoint directory. Everything that may hang is here.
//
// Any thread, several at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "port/runner.h"
#include "run/checkpoint_watch.h"
#include "run/mount_plan.h"
#include "run/replica_dir.h"
#include "run/rights.h"

namespace pondage::run {

struct Prepared {
  port::Launch launch;
  MountPlan mounts;
  std::vector<gid_t> groups;                     // of its account
  std::unique_ptr<CheckpointWatch> checkpoints;  // none: no directory
};

class Preparer {
 public:
  Preparer(std::string data_dir, std::string bwrap)
      : data_dir_(std::move(data_dir)), bwrap_(std::move(bwrap)) {}

  base::Result<Prepared> Prepare(const std::string& uid, int start,
                                 const port::Runner::MakeLaunch& make);

 private:
  base::Result<MountPlan> Mounts(const port::Launch& launch, const ReplicaDir& directory);
  std::string AskWhyNoMounts();

  const std::string data_dir_;
  const std::string bwrap_;
  std::mutex mutex_;
  std::optional<std::string> why_no_mounts_;  // asked when first needed
};

}  // namespace pondage::run
