#include "job/status.h"

#include <algorithm>
#include <utility>

namespace pondage::job {
namespace {

bool IsTerminal(const std::string& type) {
  return type == "Succeeded" || type == "Failed";
}

// Running and Restarting take each other's place in the list.
bool Displaces(const std::string& setting, const std::string& present) {
  return (setting == "Running" && present == "Restarting") ||
         (setting == "Restarting" && present == "Running");
}

}  // namespace

const Condition* FindCondition(const Status& status, const std::string& type) {
  const auto found = std::ranges::find(status.conditions, type, &Condition::type);
  return found == status.conditions.end() ? nullptr : &*found;
}

bool IsTrue(const Status& status, const std::string& type) {
  const Condition* condition = FindCondition(status, type);
  return condition != nullptr && condition->is_true;
}

bool IsFinished(const Status& status) {
  return IsTrue(status, "Succeeded") || IsTrue(status, "Failed");
}

base::Instant DecidedAt(const Status& status) {
  REQUIRE(IsFinished(status));
  return FindCondition(status, IsTrue(status, "Failed") ? "Failed" : "Succeeded")->changed;
}

bool SetCondition(Status& status, const std::string& type, bool is_true, const std::string& reason,
                  const std::string& message, base::Instant now) {
  if (IsTrue(status, "Failed")) return false;
  Condition fresh{type, is_true, reason, message, now, now};
  if (const Condition* present = FindCondition(status, type)) {
    if (present->is_true == is_true && present->reason == reason) return false;
    if (present->is_true == is_true) fresh.changed = present->changed;
  }
  std::erase_if(status.conditions, [&](const Condition& condition) {
    return condition.type == type || Displaces(type, condition.type);
  });
  if (IsTerminal(type)) {
    for (Condition& condition : status.conditions) {
      if (condition.type == "Running") condition.is_true = false;
    }
  }
  status.conditions.push_back(std::move(fresh));
  return true;
}

Replica* FindReplica(Status& status, Role role, int index) {
  const auto found = std::ranges::lower_bound(
      status.replicas, std::pair(role, index), {},
      [](const Replica& replica) { return std::pair(replica.role, replica.index); });
  if (found == status.replicas.end() || found->role != role || found->index != index)
    return nullptr;
  return &*found;
}

}  // namespace pondage::job
