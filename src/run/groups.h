// The groups of an account of this machine.
//
// Any thread.
#pragma once

#include <sys/types.h>

#include <vector>

namespace pondage::run {

// With its supplementary ones; `group` alone when the user has no entry.
std::vector<gid_t> GroupsOf(uid_t user, gid_t group);

}  // namespace pondage::run
