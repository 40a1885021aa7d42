// A Pod's spec as far as this pool reads it, decoded once for admission and for the launch.
//
// Values; any thread. What stands in a template and is not acted on is named in `ignored`.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "manifest/security.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

inline constexpr std::string_view kMainContainer = "tensorflow";
inline constexpr std::string_view kPortName = "tfjob-port";
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr int kDefaultPort = 2222;

// Where the value of a variable, or a set of them, comes from.
struct EnvSource {
  enum class Kind : std::uint8_t { kConfigMap, kSecret, kField, kResource, kUnknown };
  Kind kind = Kind::kUnknown;
  std::string name;       // of the ConfigMap or Secret; field path; resource
  std::string key;        // in the ConfigMap or Secret
  std::string container;  // whose resource; empty: its own
  boost::json::value divisor;
  bool optional = false;
};
struct EnvVar {
  std::string name;
  std::string value;
  std::optional<EnvSource> from;
};
struct EnvFrom {
  std::string prefix;
  EnvSource source;
};
struct ContainerPort {
  std::string name;
  std::int64_t number = 0;
  std::string protocol;  // TCP when unset
};
struct ContainerMount {
  std::string volume, path, sub_path;
  bool read_only = false;
  bool has_expression = false;  // subPathExpr
};
using Resources = std::map<std::string, boost::json::value>;

struct Container {
  std::string name, image, working_dir;
  std::vector<std::string> command, args;
  std::vector<ContainerPort> ports;
  std::vector<EnvVar> env;
  std::vector<EnvFrom> env_from;
  std::vector<ContainerMount> mounts;
  Resources limits, requests;
  Security security;
  std::vector<std::string> ignored;
};

struct PodVolume {
  enum class Kind : std::uint8_t { kHostPath, kEmptyDir, kConfigMap, kSecret, kClaim, kUnknown };
  struct Item {
    std::string key, path;
    bool has_mode = false;
  };
  std::string name;
  Kind kind = Kind::kUnknown;
  std::string source;  // member that says the kind ("nfs"); empty: none
  int sources = 0;     // how many such members there are
  std::string object;  // name of the ConfigMap, Secret or claim
  std::string path;    // of a hostPath
  std::string type;    // what must be there, of an emptyDir its medium; empty: whatever is
  std::optional<boost::json::value> size_limit;  // of an emptyDir
  std::vector<Item> items;
  std::int64_t mode = 0644;
  bool optional = false;
  bool read_only = false;
  std::vector<std::string> ignored;  // members that are not acted on
};

struct PodSpec {
  std::vector<Container> containers;
  std::vector<std::string> init_containers;  // their names
  bool has_ephemeral = false;
  std::vector<PodVolume> volumes;
  std::map<std::string, std::string> node_selector;
  std::optional<std::int64_t> grace_s;
  std::string restart_policy, priority_class, node_name;
  Security security;
  std::vector<std::string> ignored;
};

// `spec` is the Pod's spec; wrong types go to its Trouble.
PodSpec DecodePodSpec(const Reader& spec);

// The container that decides: the one named tensorflow, else the first; nullptr without containers.
const Container* MainContainer(const PodSpec& spec);

// What one Pod asks for, summed over its containers: limits win for GPUs, requests (limits where
// there are none) for the rest. Wrong quantities count as 0: admission has refused them.
struct Wants {
  std::int64_t gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
};
Wants WantsOf(const PodSpec& spec);

// One quantity in the unit of its resource (milli-cores for cpu); no quantity or a wrong one: 0.
std::int64_t AmountOf(const Resources& resources, std::string_view name);

// Largest amounts of one replica and largest number of replicas of a type. Their products stay far
// inside int64, so sums over a whole job cannot leave it.
inline constexpr std::int64_t kMostGpus = 1'000'000;
inline constexpr std::int64_t kMostCpuMilli = 1'000'000'000;
inline constexpr std::int64_t kMostMemoryBytes = std::int64_t{1} << 47;
inline constexpr std::int64_t kMostReplicas = 10'000;
inline constexpr std::int64_t kMostSeconds = 3'155'760'000;  // a hundred years

}  // namespace pondage::manifest
