#include "job/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace pondage::job {
namespace {

struct Spelling {
  Role role;
  const char* name;
  const char* label;
};
constexpr Spelling kSpellings[] = {{Role::kChief, "Chief", "chief"},
                                   {Role::kMaster, "Master", "master"},
                                   {Role::kPs, "PS", "ps"},
                                   {Role::kWorker, "Worker", "worker"},
                                   {Role::kEvaluator, "Evaluator", "evaluator"}};

const Spelling& SpellingOf(Role role) {
  const auto at = static_cast<std::size_t>(role);
  REQUIRE(at < std::size(kSpellings));
  PROMISE(kSpellings[at].role == role);
  return kSpellings[at];
}

// Service names are DNS labels; upstream's Pods could be longer, its Services not.
constexpr int kLongestLabel = 63;

}  // namespace

int Spec::Replicas(Role role) const {
  const auto found = roles.find(role);
  return found == roles.end() ? 0 : found->second.replicas;
}

int Spec::TotalReplicas() const {
  int total = 0;
  for (const auto& [role, replicas] : roles) total += replicas.replicas;
  return total;
}

const char* NeedName(Need::Kind kind) {
  switch (kind) {
    case Need::Kind::kClaim:
      return "PersistentVolumeClaim";
    case Need::Kind::kConfigMap:
      return "ConfigMap";
    case Need::Kind::kSecret:
      return "Secret";
  }
  return "";
}

const char* RoleName(Role role) {
  return SpellingOf(role).name;
}
const char* RoleLabel(Role role) {
  return SpellingOf(role).label;
}

std::optional<Role> RoleFromName(const std::string& any_case) {
  std::string lower = any_case;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const Spelling& spelling : kSpellings) {
    if (lower == spelling.label) return spelling.role;
  }
  return std::nullopt;
}

bool IsCollective(const Spec& spec) {
  if (spec.Has(Role::kPs) || spec.dynamic_worker) return false;
  return spec.Replicas(Role::kChief) + spec.Replicas(Role::kMaster) +
             spec.Replicas(Role::kWorker) >=
         2;
}

Scope RestartScope(const Spec& spec) {
  if (spec.scope) return *spec.scope;
  return IsCollective(spec) ? Scope::kGang : Scope::kReplica;
}

std::optional<Role> DecidingRole(const Spec& spec) {
  for (const Role role : {Role::kChief, Role::kMaster, Role::kWorker}) {
    if (spec.Has(role)) return role;
  }
  return std::nullopt;
}

std::string ReplicaName(const std::string& job_name, Role role, int index) {
  REQUIRE(index >= 0);
  std::string name = fmt::format("{}-{}-{}", job_name, RoleLabel(role), index);
  std::ranges::replace(name, '/', '-');
  return name;
}

int MaxNameLength(const Spec& spec) {
  int longest = kLongestLabel;
  for (const auto& [role, replicas] : spec.roles) {
    if (replicas.replicas < 1) continue;
    const auto suffix = ReplicaName("", role, replicas.replicas - 1).size();
    longest = std::min(longest, kLongestLabel - static_cast<int>(suffix));
  }
  return longest;
}

}  // namespace pondage::job
