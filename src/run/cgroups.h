// Control groups of replicas: limits that hold, and an end for whole trees.
//
// Faces: version 2 (one tree), version 1 (a tree for each controller), none (nothing can be
// enforced, and that is said). Thread rule: one thread; the files belong to nobody else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace pondage::run {

// 0: no limit.
struct GroupLimits {
  base::Bytes memory;
  base::MilliCpu cpu;
  std::int64_t pids = 0;
};

// What a shim needs to know of its replica's group.
struct Group {
  std::vector<std::string> directories;  // the program joins each
  std::string oom_file;                  // has a line `oom_kill N`
  std::string kill_file;                 // version 2
  std::string freezer;                   // version 1
};

// What is enforced on this machine, for `doctor` and the node's conditions.
struct LimitsReport {
  std::string backend = "none";  // "v2", "v1", "none"
  bool memory = false;
  bool cpu = false;
  bool pids = false;
  std::string why;  // what is missing, in words; empty when nothing is
};

class Cgroups {
 public:
  virtual ~Cgroups() = default;
  virtual LimitsReport Report() const = 0;
  // kUnavailable when a limit that can be enforced here could not be set.
  virtual base::Result<Group> Make(const std::string& uid, const GroupLimits& limits) = 0;
  // Ends what is left in it.
  virtual void Kill(const std::string& uid) = 0;
  // False, and nothing changed: somebody is in it.
  virtual bool Remove(const std::string& uid) = 0;
};

struct CgroupPlace {
  std::string mount_info;        // text of /proc/self/mountinfo
  std::string own_groups;        // text of /proc/self/cgroup
  std::string name = "pondage";  // of the group that holds those of the replicas
  bool is_root = false;
};
CgroupPlace ThisMachine();

// The best back-end that can be used there; never null.
std::unique_ptr<Cgroups> FindCgroups(const CgroupPlace& place);

}  // namespace pondage::run
