// Everything between a prepared launch and a running shim: ports, control group, spec, spawn.
//
// One thread, which nothing here keeps waiting.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>

#include "base/result.h"
#include "port/clock.h"
#include "port/runner.h"
#include "run/cgroups.h"
#include "run/preparer.h"
#include "run/replica_dir.h"
#include "run/shim_runner.h"
#include "shim/wire.h"

namespace pondage::run {

class Starter {
 public:
  Starter(RunnerSettings settings, Cgroups& cgroups, const port::Clock& clock);
  ~Starter();

  // The pid of the child (the shim, or the bubblewrap around it), or why there is none. `lock` is
  // the replica's; it stays taken by the child.
  std::variant<pid_t, port::NotStarted> Start(const Prepared& prepared, shim::Descriptor lock);

 private:
  base::Result<shim::Spec> MakeSpec(const Prepared& prepared, const ReplicaDir& directory);
  std::string ModuleSocket(const port::Launch& launch, const ReplicaDir& directory);

  RunnerSettings settings_;
  Cgroups& cgroups_;
  const port::Clock& clock_;
  std::string boot_id_;
  std::string short_sockets_;  // directory for sockets whose own path is too long
};

}  // namespace pondage::run
