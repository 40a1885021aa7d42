#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "pool/pool.h"
#include "replay/host.h"
#include "replay/reason.h"

namespace pondage::replay {

namespace {

constexpr std::int64_t kMilli = 1'000;

job::Spec SpecOf(const Sheet& sheet) {
  job::Spec spec;
  for (const auto& [role, member] : sheet.roles) {
    job::ReplicaSpec& replica = spec.roles[role];
    replica.replicas = member.count;
    replica.restart = job::RestartPolicy::kOnFailure;
    const bool is_part = member.gpu.value % kMilli != 0;  // then it is below one GPU
    replica.demand.gpus = is_part ? 1 : static_cast<int>(member.gpu.value / kMilli);
    if (is_part) replica.demand.share = member.gpu;
    if (!member.gpu_types.empty()) {
      replica.demand.gpu_type = member.gpu_types.front();
      replica.demand.or_types.assign(member.gpu_types.begin() + 1, member.gpu_types.end());
    }
    replica.demand.cpu = member.cpu;
    replica.demand.memory = member.memory;
    replica.demand.node_selector = member.labels;
    replica.grace = sheet.grace;
  }
  spec.clean_pods = job::CleanPodPolicy::kAll;
  spec.ttl = base::Millis{0};
  spec.deadline = DeadlineOf(*sheet.job);
  if (!sheet.queue.empty()) spec.queue = sheet.queue;
  spec.user = sheet.job->user;
  spec.priority = sheet.job->priority;
  return spec;
}

class OnPool : public Host {
 public:
  OnPool(port::Runner& programs, const port::Clock& clock)
      : programs_(programs), clock_(clock), pool_(pool::Settings{}) {}

  void See(fleet::Node node) override { facts_.emplace_back(pool::NodeSeen{std::move(node)}); }
  void Put(const queue::Spec& queue) override { facts_.emplace_back(pool::QueuePut{queue}); }

  void Apply(const Sheet& sheet) override {
    const auto number = static_cast<std::int64_t>(sheet.number);
    facts_.emplace_back(pool::JobApplied{.identity = {.id = {number + 1},
                                                      .space = "default",
                                                      .name = sheet.name,
                                                      .uid = fmt::format("job {}", number),
                                                      .created = sheet.job->submit},
                                         .spec = SpecOf(sheet)});
  }

  void Tell(port::Reading reading) override {
    if (const auto* started = std::get_if<port::Started>(&reading)) {
      facts_.emplace_back(pool::ReplicaStarted{ids_.at(started->uid), started->at});
    } else if (const auto* exited = std::get_if<port::Exited>(&reading)) {
      facts_.emplace_back(
          pool::ReplicaExited{ids_.at(exited->uid),
                              {.code = exited->code,
                               .reason = exited->reason == "Lost" ? "NodeLost" : exited->reason,
                               .at = exited->at,
                               .at_monotonic_ms = exited->at_monotonic_ms,
                               .boot_id = exited->boot_id}});
    }
  }

  base::Result<base::Instant> Turn() override {
    const std::vector<pool::Fact> facts = std::exchange(facts_, {});
    wake_ = base::kNever;
    for (const pool::Decision& decision : pool_.Step(facts, clock_.Now())) {
      std::visit([this](const auto& decided) { Do(decided); }, decision);
    }
    return facts_.empty() ? wake_ : clock_.Now();
  }

  std::optional<job::Reason> WhyWaits(const std::string& name) const override {
    return ReasonIn(pool_, name);
  }

 private:
  static std::string UidOf(const base::ReplicaId& id) {
    return fmt::format("{}/{}/{}/{}", id.job.value, static_cast<int>(id.role), id.index,
                       id.incarnation);
  }

  void Do(const pool::StartReplica& decision) {
    const pool::JobView* job = pool_.Find(decision.replica.job);
    REQUIRE(job != nullptr);
    const job::Replica* replica = nullptr;
    for (const job::Replica& candidate : job->status.replicas) {
      if (candidate.Id(job->identity.id) == decision.replica) replica = &candidate;
    }
    REQUIRE(replica != nullptr && replica->grant);
    port::Launch launch{.uid = UidOf(decision.replica), .start = replica->restarts};
    launch.env[kJobVariable] = job->identity.Path();
    launch.env[kNodeVariable] = replica->grant->node;
    ids_[launch.uid] = decision.replica;
    programs_.Start(launch.uid, launch.start, [launch] { return launch; });
  }
  void Do(const pool::StopReplica& decision) {
    programs_.Stop(UidOf(decision.replica), decision.deadline - clock_.Now());
  }
  void Do(const pool::KillReplica& decision) { programs_.Kill(UidOf(decision.replica)); }
  void Do(const pool::RemovePod& decision) { ids_.erase(UidOf(decision.replica)); }
  void Do(const pool::WakeAt& decision) { wake_ = decision.at; }
  // What only a store or a reader needs.
  void Do(const pool::MakePod&) {}
  void Do(const pool::SetStatus&) {}
  void Do(const pool::Emit&) {}
  void Do(const pool::CloseCharge&) {}
  void Do(const pool::SetUse&) {}
  void Do(const pool::Planned&) {}
  void Do(const pool::ForgetJob&) {}
  void Do(const pool::JobEnded&) {}

  port::Runner& programs_;
  const port::Clock& clock_;
  pool::Pool pool_;
  std::vector<pool::Fact> facts_;
  base::Instant wake_ = base::kNever;
  std::map<std::string, base::ReplicaId> ids_;  // of programs that were started
};

}  // namespace

std::optional<job::Reason> ReasonIn(const pool::Pool& pool, const std::string& name) {
  for (const auto& [id, job] : pool.jobs()) {
    if (job.identity.name == name) return job.status.reason;
  }
  return std::nullopt;
}

std::unique_ptr<Host> PoolHost(port::Runner& programs, const port::Clock& clock) {
  return std::make_unique<OnPool>(programs, clock);
}

}  // namespace pondage::replay
