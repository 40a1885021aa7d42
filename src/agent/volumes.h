// The volumes of a Pod as directories and files of this machine.
//
// One thread. Below the data directory: `volumes/<pod uid>/` for what lives as long as the Pod,
// `persistent/<claim uid>/` for what outlives it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/account.h"
#include "base/result.h"
#include "manifest/pod.h"
#include "port/runner.h"

namespace pondage::agent {

// The server's data directory by the name that it was given, and where it really lies: links lead
// to it by other names.
struct DataDir {
  DataDir(const std::filesystem::path& path);  // NOLINT(google-explicit-constructor): a name of it
  std::string given, real;
};

struct VolumePlace {
  DataDir data_dir;
  std::string pod_uid;
  std::string space;  // the Pod's namespace
  Account account;    // owns what is made
  bool give = false;  // ... as root, to that account
  int start = 0;      // of the replica: it reads its ConfigMaps and Secrets as of then
  // fsGroup: what is made for the Pod is this group's too, which may write there.
  std::optional<std::uint32_t> group = {};
};

// Makes what is missing and gives it as mounts. kInvalid (PND-R005): a path that cannot be used.
base::Result<std::vector<port::Mount>> MakeVolumes(const manifest::PodProgram& program,
                                                   const VolumePlace& place,
                                                   const manifest::DataOf& read);

// Whether a volume may stand at `target`; whether that path may be one. The server's own files are
// nobody's volume, but for working copies, and none stands over them or over the system.
base::Result<void> MayStandAt(const std::string& target, const DataDir& data_dir);
base::Result<void> MayShow(const std::string& host_path, const DataDir& data_dir);

// The Pod's own directory to start in when it names none.
base::Result<std::string> MakeScratch(const VolumePlace& place);

// Where a path of the program lies on this machine; `..` leads out of no mount unseen.
std::string OnThisMachine(const std::string& given, const std::vector<port::Mount>& mounts);

}  // namespace pondage::agent
