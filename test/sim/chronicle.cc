#include "chronicle.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/exits.h"

namespace pondage::sim {
namespace {

std::string EndOf(const job::Status& status) {
  if (!job::IsFinished(status)) return "";
  const char* type = job::IsTrue(status, "Failed") ? "Failed" : "Succeeded";
  return fmt::format("{} {}", type, status.completion_time ? status.completion_time->unix_ms : 0);
}

}  // namespace

std::vector<std::string> Chronicle::See(const World& world) {
  std::vector<std::string> broken;
  if (!world.IsStored()) return broken;
  for (const auto& [id, job] : world.pool().jobs()) SeeJob(job, broken);
  SeePrograms(world, broken);
  return broken;
}

void Chronicle::SeeJob(const pool::JobView& job, std::vector<std::string>& broken) {
  Known& known = known_[job.identity.uid];
  const job::Status& status = job.status;
  const auto grows = [&](const std::string& what, int& before, int now) {
    if (now < before) {
      broken.push_back(
          fmt::format("{}: {} fell from {} to {}", job.identity.Path(), what, before, now));
    }
    before = now;
  };
  grows("attempt", known.attempt, status.attempt);
  grows("restarts", known.restarts, status.restarts);
  grows("disruptions", known.disruptions, status.disruptions);
  const std::string end = EndOf(status);
  if (!known.end.empty() && end != known.end) {
    broken.push_back(
        fmt::format("{} ended twice: {}, then {}", job.identity.Path(), known.end, end));
  }
  known.end = end;
  const bool for_ever = job::RestartScope(job.spec) == job::Scope::kReplica;
  if (!for_ever) known.finished.clear();  // scaled to a gang, which runs again as a whole
  for (const job::Replica& replica : status.replicas) {
    const std::pair key(replica.role, replica.index);
    const std::string name =
        fmt::format("{} {}-{}", job.identity.Path(), job::RoleLabel(replica.role), replica.index);
    grows(name + "'s incarnation", known.incarnations[key], replica.incarnation);
    if (replica.alive && known.finished.contains(key)) {
      broken.push_back("O11: " + name + " had finished and runs again");
    }
    if (replica.completed && for_ever) known.finished.insert(key);
  }
}

void Chronicle::SeePrograms(const World& world, std::vector<std::string>& broken) {
  std::set<std::string> running;
  for (const Machine::Running& program : world.machine().Alive()) {
    const std::string name = program.job.substr(program.job.find('/') + 1) + "-" + program.replica;
    if (!running.insert(name).second) broken.push_back(name + " runs twice");
    const auto pod = world.Stored("pods", name);
    if (!pod) {
      broken.push_back(name + " runs without a Pod");
    } else if (pod->at("metadata").at("uid").as_string() != std::string_view(program.uid)) {
      broken.push_back(name + " runs beside the Pod of its name, as one that was before it");
    }
  }
}

// At no instant more is charged on a machine than it has.
std::vector<std::string> Chronicle::Capacity(const World& world, std::int64_t milli_gpus) {
  std::map<base::Instant, std::int64_t> changes;
  for (const ledger::Entry& entry : world.Charges()) {
    if (entry.from == entry.to) continue;
    changes[entry.from] += entry.gpus.value;
    changes[entry.to] -= entry.gpus.value;
  }
  std::int64_t charged = 0;
  for (const auto& [at, change] : changes) {
    charged += change;
    if (charged <= milli_gpus) continue;
    return {
        fmt::format("L12: {} of {} milli-GPU are charged at {}", charged, milli_gpus, at.unix_ms)};
  }
  return {};
}

}  // namespace pondage::sim
