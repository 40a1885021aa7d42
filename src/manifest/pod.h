// Pods, Services and Events that a TFJob owns, and the launch of a Pod as a process.
//
// Pure. Names, labels and owner references are those that Kubeflow's operator writes.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/node.h"
#include "job/machine.h"
#include "job/spec.h"
#include "job/status.h"
#include "manifest/security.h"

namespace pondage::manifest {

// A name-based UUID (version 5) made from its text: the same text, the same uid.
std::string UidFrom(std::string_view text);
// uid of the Pod of this incarnation.
std::string PodUid(const job::Identity& identity, job::Role role, int index, int incarnation);

// The Pod of one replica: template, name, labels, owner, annotations
// pondage.dev/{attempt,incarnation,gpus,port}, spec.nodeName, and behind the author's env what the
// pool sets. An author's value wins there, but for TF_CONFIG (last, addresses 127.0.0.1 and the
// ports in `status`), PONDAGE_* and the granted GPUs. `node`: where its grant lies; nullptr:
// unknown.
boost::json::object MakePod(const job::Identity& identity, const job::Spec& spec,
                            const job::Status& status, const job::Replica& replica,
                            const fleet::Node* node, base::Instant now);
boost::json::object MakeService(const job::Identity& identity, const job::Spec& spec,
                                const job::Replica& replica, base::Instant now);
// The `status` member of that Pod as a kubelet would write it.
boost::json::object PodStatus(const job::Spec& spec, const job::Replica& replica,
                              std::string_view host_ip, base::Instant now);

// What can be told of a replica by its Pod alone.
struct BoundPod {
  std::string uid;
  int start = 0;  // in-place restarts so far
  bool ended = false;
  fleet::Grant grant;  // node and GPUs; cores and memory are not told
};
base::Result<BoundPod> DecodeBoundPod(std::string_view pod_bytes);

// An Event about an object (kind, namespace, name, uid of `about`).
struct About {
  std::string api_version, kind, space, name, uid;
};
boost::json::object MakeEvent(const About& about, const job::Note& note, std::string_view component,
                              std::string_view event_name, base::Instant now);

// What a Pod wants run, before this machine's paths are known.
struct PodProgram {
  std::string main_container;  // its name
  std::string image;
  std::vector<std::string> argv;                         // command + args, $(VAR) expanded
  std::vector<std::pair<std::string, std::string>> env;  // in order, references resolved
  std::string working_dir;
  struct VolumeMount {
    enum class Source { kHostPath, kEmptyDir, kConfigMap, kSecret, kClaim } source;
    std::string name;  // volume, or name of the ConfigMap, Secret, claim
    std::string host_path;
    std::string host_type;  // hostPath.type
    std::string sub_path;
    std::string target;
    bool read_only = false;
    int mode = 0644;  // of the files of a ConfigMap or Secret
    std::vector<std::pair<std::string, std::string>> items;  // key -> relative path; empty: all
  };
  std::vector<VolumeMount> mounts;
  base::Millis grace{30'000};
  base::Bytes memory_limit;
  base::MilliCpu cpu_limit;
  AskedAccount account;  // what it asks for
};
// `read`: data of a ConfigMap ("configmaps") or Secret ("secrets") of the Pod's namespace: values
// as bytes; none: missing. Missing and not optional is kNotFound with the object's name.
using DataOf = std::function<std::optional<std::map<std::string, std::string>>(
    const std::string& kind, const std::string& name)>;
base::Result<PodProgram> ProgramOf(std::string_view pod_bytes, const DataOf& read);

}  // namespace pondage::manifest
