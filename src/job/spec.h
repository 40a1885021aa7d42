// A TFJob as its author wrote it, decoded, with defaults applied: what the state machine reads.
//
// Values; any thread. The Pod template itself stays opaque bytes: `job` never sees JSON.
// Fields and defaults are Kubeflow's; what is ours: docs/decisions/0004 and 0011.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "base/quantity.h"
#include "fleet/demand.h"

namespace pondage::job {

using base::Role;

enum class RestartPolicy : std::uint8_t { kNever, kOnFailure, kAlways, kExitCode };
enum class CleanPodPolicy : std::uint8_t { kNone, kRunning, kAll };
enum class SuccessPolicy : std::uint8_t { kDefault, kAllWorkers };

// A stored object of the job's namespace without which none of its programs can start.
struct Need {
  enum class Kind : std::uint8_t { kClaim, kConfigMap, kSecret } kind = Kind::kClaim;
  std::string name;
  std::string key;  // that a ConfigMap or Secret must hold; empty: whatever it holds

  auto operator<=>(const Need&) const = default;
};
// One that is not there.
struct Lack {
  Need need;
  bool leaving = false;  // it is there, and being deleted

  bool operator==(const Lack&) const = default;
};

// Who restarts when one replica goes.
enum class Scope : std::uint8_t { kGang, kReplica };

struct ReplicaSpec {
  int replicas = 1;  // > 0: a type with 0 replicas is absent (O20)
  RestartPolicy restart = RestartPolicy::kNever;
  int port = 2222;             // containerPort of the main container's `tfjob-port`
  fleet::Demand demand;        // of one replica
  base::Millis grace{30'000};  // terminationGracePeriodSeconds
  std::string image;           // of the main container
  std::string template_json;   // the Pod template, opaque

  bool operator==(const ReplicaSpec&) const = default;
};

struct Spec {
  std::map<Role, ReplicaSpec> roles;  // only those present
  bool dynamic_worker = false;
  SuccessPolicy success = SuccessPolicy::kDefault;
  CleanPodPolicy clean_pods = CleanPodPolicy::kNone;
  std::optional<base::Millis> ttl;       // ttlSecondsAfterFinished
  std::optional<base::Millis> deadline;  // activeDeadlineSeconds, from the bind
  std::optional<int> backoff_limit;
  bool suspend = false;
  bool managed_elsewhere = false;  // managedBy names another controller: hands off
  std::optional<int> min_available;
  std::string queue = "default";
  int priority = 0;  // of schedulingPolicy.priorityClass
  // From annotations `pondage.dev/...` (docs/decisions/0004).
  std::optional<Scope> scope;  // restart-scope
  std::optional<base::Millis> startup_timeout;
  std::string checkpoint_dir;
  std::optional<int> requeue_exit_code;
  bool evaluator_in_cluster = true;
  std::string user;
  std::vector<Need> needs;  // of its Pod templates; ascending, each once

  bool Has(Role role) const { return roles.contains(role); }
  int Replicas(Role role) const;  // 0 when absent
  int TotalReplicas() const;
  bool operator==(const Spec&) const = default;
};

// What a job is called. `id` ends every comparison.
struct Identity {
  base::JobId id;
  std::string space;  // namespace
  std::string name;
  std::string uid;
  base::Instant created;

  std::string Path() const { return space + "/" + name; }
};

const char* NeedName(Need::Kind kind);  // "PersistentVolumeClaim"
const char* RoleName(Role role);        // "Worker", "PS"
const char* RoleLabel(Role role);       // "worker", "ps"
std::optional<Role> RoleFromName(const std::string& any_case);

// A collective: no PS, no dynamic worker, two or more of chief, master, worker. One lost member
// hangs or ends all others.
bool IsCollective(const Spec& spec);
Scope RestartScope(const Spec& spec);

// The role that decides running and success: Chief or Master if there is one, else Worker
// none in a job of PS and evaluators only.
std::optional<Role> DecidingRole(const Spec& spec);

// `J-t-i`, the name of Pod and Service alike.
std::string ReplicaName(const std::string& job_name, Role role, int index);
// Longest name a job with these roles may have: names of its replicas are DNS labels.
int MaxNameLength(const Spec& spec);

}  // namespace pondage::job
