// The words for bubblewrap that give one replica its mounts and leave the rest of the machine as it
// is.
//
// Any thread, for as long as a file system takes; changes nothing. A target that is missing is
// never made on the machine: its nearest existing parent becomes a memory file system whose entries
// are bound again. One inside another mount is made there by bubblewrap, which may have more rights
// than the program: where it has, the target must exist already, or lie in a volume of the
// replica's own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "port/runner.h"

namespace pondage::run {

struct MountPlan {
  // Empty: no mount changes anything, so bubblewrap is not needed.
  std::vector<std::string> words;
  // Between the plan and bubblewrap, which has more rights than the account, paths may come to lead
  // elsewhere: what must be found where, once all is mounted, beside each mount's own `expected`.
  struct Expected {
    port::FileId file;
    std::string path;
  };
  std::vector<Expected> expected;
};

// Sources must be filled in and exist. kInvalid: cannot be done, and why.
base::Result<MountPlan> PlanMounts(std::vector<port::Mount> mounts, const std::string& working_dir,
                                   bool for_another_account = false);

// Whether bubblewrap can make name spaces for this account; empty: yes, else what it said.
std::string WhyNoMounts(const std::string& bwrap);

}  // namespace pondage::run
