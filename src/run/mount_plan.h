// The words for bubblewrap that give one replica its mounts and leave the rest of the machine as it
// is.
//
// Any thread, for as long as a file system takes; changes nothing. A target that is missing is
// never made on the machine: its nearest existing parent becomes a memory file system whose entries
// are bound again. Where root mounts for another account, nothing is done by a path that somebody
// else can make lead elsewhere: the volumes are left to the shim, which mounts by descriptors, a
// directory that is rebuilt must stay where it is, and a target inside another mount must exist
// already, or lie in a volume of the replica's own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "port/runner.h"

namespace pondage::run {

struct MountPlan {
  // Empty: no mount changes anything, so bubblewrap is not needed.
  std::vector<std::string> words;
  struct Expected {
    port::FileId file;
    std::string path;  // without a link
  };
  // Between the plan and bubblewrap sources may come to lead elsewhere: what must be mounted where.
  std::vector<Expected> expected;
  struct Volume {
    Expected source;
    std::string target;  // without a link, as planned
    bool read_only = false;
  };
  std::vector<Volume> volumes;  // left to the shim
};

// Sources must be filled in and exist. kInvalid: cannot be done, and why.
base::Result<MountPlan> PlanMounts(std::vector<port::Mount> mounts, const std::string& working_dir,
                                   bool root_for_another = false);

// Whether bubblewrap can make name spaces for this account; empty: yes, else what it said.
std::string WhyNoMounts(const std::string& bwrap);

}  // namespace pondage::run
