// Admission rules of a TFJob: every error with its path, all of them collected.
//
// Pure. Works on what manifest::DecodeTfJob found in the template (container names and images), so
// `job` still never sees JSON. Rules as Kubeflow's webhook has them, messages as Kubernetes'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/spec.h"

namespace pondage::job {

enum class FieldErrorKind : std::uint8_t {
  kRequired,
  kInvalid,
  kNotSupported,
  kForbidden,
  kDuplicate,
  kTooLong
};
struct FieldError {
  FieldErrorKind kind;
  std::string path;     // "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image"
  std::string message;  // without the path: "Required value", `Invalid value: "x": why`
  bool operator==(const FieldError&) const = default;
};

// What a draft says before it is trusted. Names as spelled by the author.
struct DraftContainer {
  std::string name;
  std::string image;
};
struct DraftRole {
  std::string spelled;  // key in tfReplicaSpecs
  bool is_null = false;
  std::optional<std::int64_t> replicas;
  std::string restart_policy;  // empty: unset
  std::vector<DraftContainer> containers;
  std::vector<FieldError> template_errors;  // what Pod validation found, paths relative to the role
};
struct Draft {
  std::string name;
  bool has_roles = false;        // spec.tfReplicaSpecs is present
  std::vector<DraftRole> roles;  // in the order of the document
  std::string clean_pod_policy;
  std::string success_policy;
  std::optional<std::string> managed_by;
  std::optional<std::int64_t> ttl_s, deadline_s, backoff_limit, min_available;
  std::optional<std::string> queue;  // where it stands, by whatever field
  bool dynamic_worker = false;       // enableDynamicWorker
  std::vector<FieldError> annotation_errors;
};

struct Findings {
  std::vector<FieldError> errors;
  std::vector<std::string> warnings;
};

// `previous`: the stored draft when this is an update (immutable fields).
Findings Validate(const Draft& draft, const Draft* previous);

}  // namespace pondage::job
