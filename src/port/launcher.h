// The port from a stored Pod to a program of this machine: environments, paths, limits.
//
// Thread rule: LaunchOf() on any thread, several at once, for as long as a file system takes: who
// calls it shares the launcher. The rest on the loop's thread, answered at once. Faces:
// agent::PodLauncher (real), the simulator's own.
#pragma once

#include <string>

#include "base/result.h"
#include "port/runner.h"

namespace pondage::port {

class Launcher {
 public:
  virtual ~Launcher() = default;
  // kInvalid, kNotFound: this replica can never be started so; the message says why.
  virtual base::Result<Launch> LaunchOf(const std::string& pod_body, int start) = 0;
  // What an image stands for on this machine now, as one line for people to read and to compare.
  // Empty: nothing.
  virtual std::string ServedBy(const std::string& /*image*/) { return {}; }
  // The TFJob is deleted for good: what this machine kept for it (its working copy) may go.
  virtual void Discard(const std::string& job_body) = 0;
  // The PersistentVolumeClaim is deleted for good, and no Pod uses it: its data may go.
  virtual void DropClaim(const std::string& /*uid*/) {}
};

}  // namespace pondage::port
