// The variables that a replica finds: its Pod's, and what this machine adds to find its Python.
//
// Pure. What the pool adds (TF_CONFIG, devices, threads) stands in the Pod already; what the Pod
// says wins over what is added here, but for the environment that it chose by its image.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/account.h"

namespace pondage::agent {

struct ReplicaEnv {
  std::vector<std::pair<std::string, std::string>> pod;  // in order; later ones win
  std::string prefix;                                    // its bin comes first in PATH
  bool is_virtual_environment = false;                   // has pyvenv.cfg
  Account account;
  std::string python_dir;  // comes first in PYTHONPATH; empty: nothing is added
};

std::map<std::string, std::string> MakeEnv(const ReplicaEnv& wanted);

}  // namespace pondage::agent
