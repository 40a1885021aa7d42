// Ends whole trees of processes, those that fork faster than one can look included.
//
// One thread. The caller is a subreaper, so nothing started below it can leave its tree; it calls
// Round() again, after reaping, until it has no children.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "shim/wire.h"

namespace pondage::shim {

// SIGTERM (or another polite signal) to every process below this one.
void SignalTree(int signal);

// Kills every process below this one that is in one of those sessions, those forked meanwhile
// included.
void KillSessions(const std::set<pid_t>& sessions);

class Killer {
 public:
  explicit Killer(const Spec& spec) : kill_file_(spec.kill_file), freezer_(spec.freezer) {}

  // The control group first where there is one. Then stops everything below this process until a
  // look finds nothing new (what is stopped cannot fork), and kills it all.
  void Round();

 private:
  void KillGroup();

  std::string kill_file_;
  std::string freezer_;
};

}  // namespace pondage::shim
