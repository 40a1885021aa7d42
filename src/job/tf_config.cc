#include "job/tf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/assert.h"

namespace pondage::job {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

// `"ps":["a","b"]`, every replica of the role.
std::string List(const Spec& spec, Role role, const AddressOf& address) {
  std::string out = Quoted(RoleLabel(role)) + ":[";
  for (int index = 0; index < spec.Replicas(role); ++index) {
    if (index > 0) out += ',';
    out += Quoted(address(role, index));
  }
  return out + ']';
}

std::string Task(Role role, int index) {
  return fmt::format(R"("task":{{"type":"{}","index":{}}})", RoleLabel(role), index);
}

std::string Normal(const Spec& spec, Role role, int index, const AddressOf& address) {
  std::vector<Role> roles;
  for (const auto& [present, replicas] : spec.roles) {
    if (replicas.replicas < 1) continue;                                      // O20
    if (present == Role::kEvaluator && !spec.evaluator_in_cluster) continue;  // O19
    roles.push_back(present);
  }
  std::ranges::sort(roles, {}, [](Role present) { return std::string_view(RoleLabel(present)); });
  std::string cluster;
  for (const Role present : roles) {
    if (!cluster.empty()) cluster += ',';
    cluster += List(spec, present, address);
  }
  return fmt::format(R"({{"cluster":{{{}}},{},"environment":"cloud"}})", cluster,
                     Task(role, index));
}

// The sparse cluster of enableDynamicWorker: a worker knows itself and the ps; the order of keys is
// upstream's, not sorted. A chief finds itself and the ps (O18: upstream's form is refused by
// TensorFlow).
std::string Dynamic(const Spec& spec, Role role, int index, const AddressOf& address) {
  std::string chief;
  std::string workers;
  if (role == Role::kWorker) {
    workers = fmt::format(R"("{}":{})", index, Quoted(address(role, index)));
  } else if (role != Role::kPs) {
    for (const Role first : {Role::kChief, Role::kMaster}) {
      if (spec.Replicas(first) > 0 && chief.empty()) chief = List(spec, first, address) + ",";
    }
  }
  return fmt::format(R"({{"cluster":{{{}"worker":{{{}}},{}}},{}}})", chief, workers,
                     List(spec, Role::kPs, address), Task(role, index));
}

}  // namespace

std::optional<std::string> TfConfig(const Spec& spec, Role role, int index,
                                    const AddressOf& address) {
  REQUIRE(index >= 0);
  if (spec.TotalReplicas() == 1) return std::nullopt;
  return spec.dynamic_worker ? Dynamic(spec, role, index, address)
                             : Normal(spec, role, index, address);
}

std::string DnsAddress(const Spec& spec, const Identity& identity, const std::string& domain,
                       Role role, int index) {
  const auto found = spec.roles.find(role);
  REQUIRE(found != spec.roles.end());
  const std::string tail = domain.empty() ? "" : "." + domain;
  return fmt::format("{}.{}.svc{}:{}", ReplicaName(identity.name, role, index), identity.space,
                     tail, found->second.port);
}

}  // namespace pondage::job
