// Processes of a replica whose shim is gone, or does not do its work: nothing of them may run on
// beside the next holder of its GPUs.
//
// Any thread. They are known by PONDAGE_POD in their environment, which children inherit, and as
// long as their shim is there by being below it. The shim, or bubblewrap on its way to become it,
// is known by the lock that it was given; so is who took that from it.
#pragma once

#include <string>
#include <vector>

#include "shim/process_tree.h"

namespace pondage::run {

// Stops and kills them, look after look. False when some are still there (in the kernel's hands).
bool KillRemnants(const std::string& uid);

// Those that hold this lock file locked, but for this process.
std::vector<shim::Process> HoldersOf(const std::string& lock);

// Whether a shim that is to end its replica since a while is not about to: it was stopped, or what
// it should have killed is alive. Not: it waits for the kernel, or for room on the disk.
bool IsStopped(const shim::Process& shim);
bool LeavesAlive(const shim::Process& shim);

// Kills it with everything below it, which cannot hide while it is there.
void KillTree(const shim::Process& shim);

}  // namespace pondage::run
