#include "job/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "base/assert.h"

namespace pondage::job {
namespace {

constexpr std::string_view kMainContainer = "tensorflow";
constexpr std::string_view kRolesPath = "spec.tfReplicaSpecs";
constexpr std::string_view kManagedByPath = "spec.runPolicy.managedBy";
constexpr std::string_view kQueuePath = "spec.runPolicy.schedulingPolicy.queue";
constexpr std::string_view kMinAvailablePath = "spec.runPolicy.schedulingPolicy.minAvailable";

constexpr std::string_view kManagers[] = {"kubeflow.org/training-operator",
                                          "kueue.x-k8s.io/multikueue"};
constexpr std::string_view kRoleNames[] = {"Chief", "Master", "PS", "Worker", "Evaluator"};
constexpr std::string_view kRestartPolicies[] = {"Always", "OnFailure", "Never", "ExitCode"};
constexpr std::string_view kCleanPodPolicies[] = {"All", "Running", "None"};
constexpr std::string_view kSuccessPolicies[] = {"", "AllWorkers"};

// Far above any real job; below it the lists made for one job stay small.
constexpr std::int64_t kMostReplicas = 10'000;

// The types that count: known, spelled once, more than 0 replicas (O20).
using Counting = std::map<Role, const DraftRole*>;

std::string Quoted(std::string_view text) {
  return fmt::format("{:?}", text);
}
std::string QuotedOrNull(const std::optional<std::string>& text) {
  return text ? Quoted(*text) : "null";
}

std::string RolePath(Role role) {
  return fmt::format("{}[{}]", kRolesPath, RoleName(role));
}

class Check {
 public:
  Check(const Draft& draft, const Draft* previous) : draft_(draft), previous_(previous) {}

  Findings Run() &&;

 private:
  void Name(const Counting& counting);
  void Immutable();
  void ManagedBy();
  void Policies();
  void NotNegative(const std::optional<std::int64_t>& value, std::string_view path);
  void MinAvailable(const Counting& counting);
  Counting Roles();
  void OneRole(Role role, const DraftRole& given);
  void Containers(Role role, const DraftRole& given);
  void Topology(const Counting& counting);
  void Edits(const Counting& counting);

  void Add(FieldErrorKind kind, std::string_view path, std::string message) {
    findings_.errors.push_back({kind, std::string(path), std::move(message)});
  }
  void Required(std::string_view path, std::string_view why = "") {
    Add(FieldErrorKind::kRequired, path,
        why.empty() ? "Required value" : fmt::format("Required value: {}", why));
  }
  void Invalid(std::string_view path, std::string_view value, std::string_view why) {
    Add(FieldErrorKind::kInvalid, path, fmt::format("Invalid value: {}: {}", value, why));
  }
  void OneOf(std::string_view path, std::string_view value,
             std::span<const std::string_view> supported) {
    if (std::ranges::find(supported, value) != supported.end()) return;
    std::vector<std::string> quoted;
    for (const std::string_view one : supported) {
      if (!one.empty()) quoted.push_back(Quoted(one));
    }
    Add(FieldErrorKind::kNotSupported, path,
        fmt::format("Unsupported value: {}: supported values: {}", Quoted(value),
                    fmt::join(quoted, ", ")));
  }
  void Warn(std::string text) { findings_.warnings.push_back(std::move(text)); }

  const Draft& draft_;
  const Draft* previous_;
  Findings findings_;
};

bool IsDns1035(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto letter_or_digit = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !letter(name.front()) || !letter_or_digit(name.back())) return false;
  return std::ranges::all_of(name, [&](char c) { return letter_or_digit(c) || c == '-'; });
}

std::int64_t ReplicasOf(const DraftRole& given) {
  return given.replicas.value_or(1);
}

std::int64_t SumOf(const Counting& counting) {
  std::int64_t sum = 0;
  for (const auto& [role, given] : counting) {
    sum += std::min<std::int64_t>(ReplicasOf(*given), std::int64_t{1} << 40);
  }
  return sum;
}

// O2: a name that Pods could bear and Services could not is refused here instead of never starting.
void Check::Name(const Counting& counting) {
  const std::string_view path = "metadata.name";
  if (!IsDns1035(draft_.name)) {
    Invalid(path, Quoted(draft_.name),
            "must be a DNS-1035 label: lower-case letters, digits and '-', beginning with a letter "
            "and ending with a letter or a digit");
    return;
  }
  std::size_t limit = 63;
  std::string suffix;
  for (const auto& [role, given] : counting) {
    const std::int64_t last = std::min(ReplicasOf(*given), kMostReplicas) - 1;
    const std::string its = ReplicaName("", role, static_cast<int>(last));
    if (63 - its.size() >= limit) continue;
    limit = 63 - its.size();
    suffix = its;
  }
  if (draft_.name.size() <= limit) return;
  Invalid(path, Quoted(draft_.name),
          suffix.empty() ? fmt::format("must be no more than {} characters", limit)
                         : fmt::format("must be no more than {} characters, because its replicas' "
                                       "names end in \"{}\" and may have 63",
                                       limit, suffix));
}

void Check::Immutable() {
  if (previous_ == nullptr) return;
  if (draft_.managed_by != previous_->managed_by) {
    Invalid(kManagedByPath, QuotedOrNull(draft_.managed_by), "field is immutable");
  }
  if (draft_.queue && previous_->queue && draft_.queue != previous_->queue) {
    Invalid(kQueuePath, QuotedOrNull(draft_.queue), fmt::format("{} is immutable", kQueuePath));
  }
}

void Check::ManagedBy() {
  if (draft_.managed_by) OneOf(kManagedByPath, *draft_.managed_by, kManagers);
}

void Check::NotNegative(const std::optional<std::int64_t>& value, std::string_view path) {
  if (value && *value < 0) {
    Invalid(path, std::to_string(*value), "must be greater than or equal to 0");
  }
}

void Check::Policies() {
  if (!draft_.clean_pod_policy.empty()) {
    OneOf("spec.runPolicy.cleanPodPolicy", draft_.clean_pod_policy, kCleanPodPolicies);
  }
  OneOf("spec.successPolicy", draft_.success_policy, kSuccessPolicies);
  NotNegative(draft_.ttl_s, "spec.runPolicy.ttlSecondsAfterFinished");
  NotNegative(draft_.deadline_s, "spec.runPolicy.activeDeadlineSeconds");
  NotNegative(draft_.backoff_limit, "spec.runPolicy.backoffLimit");
  if (draft_.deadline_s == 0) {
    Warn("spec.runPolicy.activeDeadlineSeconds: 0 lets the job fail as soon as it has its GPUs");
  }
}

void Check::MinAvailable(const Counting& counting) {
  if (!draft_.min_available) return;
  const std::int64_t least = *draft_.min_available;
  const std::int64_t sum = SumOf(counting);
  if (least <= 0) {
    Invalid(kMinAvailablePath, std::to_string(least), "must be greater than 0");
  } else if (least > sum && sum > 0) {
    Warn(
        fmt::format("{}: {} is more than the {} replicas of the job, so it waits until one of the "
                    "two is changed",
                    kMinAvailablePath, least, sum));
  } else if (least < sum && !draft_.dynamic_worker) {
    Warn(
        fmt::format("{}: {} is ignored: without enableDynamicWorker all {} replicas start "
                    "together or none",
                    kMinAvailablePath, least, sum));
  }
}

Counting Check::Roles() {
  Counting counting;
  if (!draft_.has_roles || draft_.roles.empty()) {
    Required(kRolesPath);
    return counting;
  }
  std::map<Role, const DraftRole*> seen;
  for (const DraftRole& given : draft_.roles) {
    const std::optional<Role> role = RoleFromName(given.spelled);
    if (!role) {
      OneOf(kRolesPath, given.spelled, kRoleNames);
    } else if (!seen.emplace(*role, &given).second) {
      Add(FieldErrorKind::kDuplicate, RolePath(*role), "Duplicate value: " + Quoted(given.spelled));
    } else {
      OneRole(*role, given);
      if (ReplicasOf(given) > 0) counting.emplace(*role, &given);
    }
  }
  if (counting.empty() && !seen.empty() && findings_.errors.empty()) {
    Required(kRolesPath, "at least one type must have replicas");
  }
  return counting;
}

void Check::OneRole(Role role, const DraftRole& given) {
  const std::string path = RolePath(role);
  if (given.is_null) {
    Required(path);
    return;
  }
  NotNegative(given.replicas, path + ".replicas");
  if (!given.restart_policy.empty()) {
    OneOf(path + ".restartPolicy", given.restart_policy, kRestartPolicies);
  }
  if (ReplicasOf(given) != 0) Containers(role, given);
}

void Check::Containers(Role role, const DraftRole& given) {
  const std::string path = RolePath(role) + ".template.spec.containers";
  if (given.containers.empty()) Required(path);
  bool has_main = false;
  for (std::size_t at = 0; at < given.containers.size(); ++at) {
    const DraftContainer& container = given.containers[at];
    has_main = has_main || container.name == kMainContainer;
    if (container.image.empty()) Required(fmt::format("{}[{}].image", path, at));
  }
  if (!has_main) Required(path, fmt::format("one must be named \"{}\"", kMainContainer));
  for (const FieldError& error : given.template_errors) {
    Add(error.kind, RolePath(role) + "." + error.path, error.message);
  }
}

void Check::Topology(const Counting& counting) {
  if (counting.contains(Role::kChief) && counting.contains(Role::kMaster)) {
    Add(FieldErrorKind::kForbidden, kRolesPath,
        "Forbidden: a job has one deciding type, so Chief and Master exclude each other");
  }
  for (const Role role : {Role::kChief, Role::kMaster}) {
    const auto found = counting.find(role);
    if (found != counting.end() && ReplicasOf(*found->second) > 1) {
      Warn(fmt::format("{}.replicas: TensorFlow knows one chief only", RolePath(role)));
    }
  }
  const auto decides = [](const auto& entry) {
    return entry.first != Role::kPs && entry.first != Role::kEvaluator;
  };
  if (!counting.empty() && std::ranges::none_of(counting, decides)) {
    Warn(fmt::format("{}: a job of PS and Evaluator only is never Running and never Succeeded",
                     kRolesPath));
  }
  if (SumOf(counting) > kMostReplicas) {
    Invalid(kRolesPath, std::to_string(SumOf(counting)),
            fmt::format("a job has at most {} replicas", kMostReplicas));
  }
}

// O24: what is edited under a running job and does not reach its Pods is said.
void Check::Edits(const Counting& counting) {
  if (previous_ == nullptr) return;
  for (const DraftRole& before : previous_->roles) {
    const std::optional<Role> role = RoleFromName(before.spelled);
    const auto found = role ? counting.find(*role) : counting.end();
    if (found == counting.end()) continue;
    const auto same = [](const DraftContainer& a, const DraftContainer& b) {
      return a.name == b.name && a.image == b.image;
    };
    if (!std::ranges::equal(before.containers, found->second->containers, same)) {
      Warn(fmt::format("{}.template: Pods that exist keep the template they were made from",
                       RolePath(*role)));
    }
  }
}

Findings Check::Run() && {
  Counting counting = Roles();
  Topology(counting);
  Immutable();
  ManagedBy();
  Policies();
  MinAvailable(counting);
  Name(counting);
  Edits(counting);
  for (const FieldError& error : draft_.annotation_errors) findings_.errors.push_back(error);
  return std::move(findings_);
}

}  // namespace

Findings Validate(const Draft& draft, const Draft* previous) {
  return Check(draft, previous).Run();
}

}  // namespace pondage::job
