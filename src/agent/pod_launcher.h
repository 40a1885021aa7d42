// A stored Pod as a program of this machine: its environment's Python, its account, its volumes.
//
// Thread rule: port::Launcher's. Makes directories; starts nothing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/account.h"
#include "agent/claims.h"
#include "agent/environments.h"
#include "agent/volumes.h"
#include "agent/work_copies.h"
#include "manifest/pod.h"
#include "manifest/tfjob.h"
#include "port/launcher.h"

namespace pondage::agent {

// On a Pod: the prefix of its Python, in place of the one registered for its image.
inline constexpr std::string_view kEnvironment = "pondage.dev/environment";

struct LaunchSettings {
  std::string data_dir;
  std::vector<port::Mount> mounts;  // in every replica (`--mount`)
  std::optional<Account> run_as;    // (`--run-as`)
  std::string python_dir;           // holds the module `pondage`; empty: not offered
  base::Bytes log_cap{100 << 20};
  std::int64_t pids_limit = 32'768;  // threads count
};

class PodLauncher : public port::Launcher {
 public:
  // Data of a ConfigMap or Secret, `uid` of a PersistentVolumeClaim: (kind, namespace, name).
  using DataOf = std::function<std::optional<std::map<std::string, std::string>>(
      const std::string& kind, const std::string& space, const std::string& name)>;

  PodLauncher(LaunchSettings settings, DataOf data_of);

  base::Result<port::Launch> LaunchOf(const std::string& pod_body, int start) override;
  std::string ServedBy(const std::string& image) override;
  // Whether jobs have a Python for `image`, or in the prefix that their Pods name themselves (else
  // empty), that the account they run as may start: PND-E001, PND-E003. Any thread.
  base::Result<void> MayUse(const std::string& own_prefix, const std::string& image) const;
  // Whether this machine gives the Pods of a role what they ask for beside it: the account, and
  // where volumes stand. Any thread.
  base::Result<void> MayAsk(const manifest::RoleAsk& ask) const;
  // Removes the job's working copy, when it lies below the data directory.
  void Discard(const std::string& job_body) override;
  void DropClaim(const std::string& uid) override { claims_.Drop(uid); }
  const Claims& claims() const { return claims_; }

 private:
  struct Pod;
  base::Result<port::Launch> MakeLaunch(const std::string& pod_body, int start);
  base::Result<Environment> EnvironmentOf(const std::string& own_prefix,
                                          const std::string& image) const;

  LaunchSettings settings_;
  DataOf data_of_;
  DataDir data_dir_;
  Environments environments_;
  WorkCopies copies_;
  Claims claims_;
  Account server_;
};

}  // namespace pondage::agent
