// Takes facts: what each of them changes in the pool's memory. Nothing is decided here.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "pool/pool.h"

namespace pondage::pool {
namespace {

// A running job's step is written to its status this often; in between it is only remembered.
constexpr base::Millis kProgressEvery{10'000};

}  // namespace

class Taker {
 public:
  Taker(Pool& pool, base::Instant now) : pool_(pool), now_(now) {}

  void operator()(const JobApplied& fact);
  void operator()(const JobLoaded& fact);
  void operator()(const JobRemoved& fact);
  void operator()(const JobLacks& fact);
  void operator()(const QueuePut& fact);
  void operator()(const QueueRemoved& fact);
  void operator()(const UseKept& fact);
  void operator()(const PlanKept& fact);
  void operator()(const NodeSeen& fact);
  void operator()(const NodeLost& fact);
  void operator()(const ReplicaStarted& fact);
  void operator()(const ReplicaSaid& fact);
  void operator()(const ReplicaExited& fact);
  void operator()(const ReplicaNotStarted& fact);
  void operator()(const CheckpointSeen& fact);
  void operator()(const PodDeleting& fact);
  void operator()(const GpusKept& fact);
  void operator()(const GpusFreed& fact);
  void operator()(const ProgramsUnheard&);
  void operator()(const ProgramsHeard&);

 private:
  // The replica a fact is about, if it is still that incarnation. Of: its job is to be judged.
  job::Replica* Find(const base::ReplicaId& id);
  job::Replica* Of(const base::ReplicaId& id);
  void Exited(job::Replica& replica, const job::Exit& exit);
  void ClashOfPorts(JobView& job, const std::vector<int>& ports);

  Pool& pool_;
  base::Instant now_;
};

void Pool::Take(const Fact& fact, base::Instant now) {
  std::visit(Taker(*this, now), fact);
}

void Pool::Remember(std::span<const Fact> facts) {
  for (const Fact& fact : facts) Take(fact, last_);
  used_.clear();  // it is what the host told
}

job::Replica* Taker::Find(const base::ReplicaId& id) {
  const auto found = pool_.jobs_.find(id.job);
  if (found == pool_.jobs_.end()) return nullptr;
  job::Replica* replica = job::FindReplica(found->second.status, id.role, id.index);
  return replica == nullptr || replica->incarnation != id.incarnation ? nullptr : replica;
}

job::Replica* Taker::Of(const base::ReplicaId& id) {
  job::Replica* replica = Find(id);
  if (replica != nullptr) pool_.Touch(id.job);
  return replica;
}

void Taker::operator()(const JobApplied& fact) {
  const auto found = pool_.jobs_.find(fact.identity.id);
  if (found == pool_.jobs_.end()) {
    JobView job{fact.identity, fact.spec, job::FirstStatus(fact.identity, fact.spec, now_)};
    pool_.jobs_.emplace(fact.identity.id, std::move(job));
  } else {
    JobView& job = found->second;
    REQUIRE(fact.spec.queue == job.spec.queue);  // what it holds is charged where it was taken
    if (fact.spec.suspend && !job.spec.suspend) job.status.user_stop = fact.by;
    job::TakeChange(job.spec, fact.spec, job.status);
    job.spec = fact.spec;
  }
  pool_.Touch(fact.identity.id);  // a new one is planned for once it is judged to wait
}

void Taker::operator()(const JobLoaded& fact) {
  JobView job{fact.identity, fact.spec, fact.status, fact.removed};
  for (const job::Replica& replica : job.status.replicas) {
    if (replica.grant) pool_.Hold(job, replica, now_);
    if (replica.port != 0) pool_.ports_.insert(replica.port);
  }
  if (job.status.slot) {
    pool_.planner_->Restore(fact.identity.id, {job.status.slot->at, job.status.slot->grants});
  }
  pool_.written_[fact.identity.id] = fact.status;
  pool_.jobs_.insert_or_assign(fact.identity.id, std::move(job));
  pool_.Touch(fact.identity.id);
}

void Taker::operator()(const JobRemoved& fact) {
  const auto found = pool_.jobs_.find(fact.job);
  if (found == pool_.jobs_.end()) return;
  found->second.removed = true;
  pool_.Touch(fact.job);
}

void Taker::operator()(const JobLacks& fact) {
  const auto found = pool_.jobs_.find(fact.job);
  if (found == pool_.jobs_.end() || found->second.lack == fact.lack) return;
  found->second.lack = fact.lack;
  pool_.Touch(fact.job);
}

void Taker::operator()(const QueuePut& fact) {
  pool_.planner_->PutQueue(fact.spec);
}

void Taker::operator()(const QueueRemoved& fact) {
  pool_.planner_->RemoveQueue(fact.name);
  pool_.used_.insert(fact.name);
}

void Taker::operator()(const UseKept& fact) {
  pool_.planner_->Restore(fact.use);
}

void Taker::operator()(const PlanKept& fact) {
  pool_.planned_ = fact.at;
}

void Taker::operator()(const NodeSeen& fact) {
  pool_.planner_->SeeNode(fact.node);
}

// Its programs may well run: they are asked to leave as if their Pods were deleted, and what they
// hold is free when their end is told.
void Taker::operator()(const NodeLost& fact) {
  pool_.planner_->ForgetNode(fact.name);
  for (auto& [id, job] : pool_.jobs_) {
    for (job::Replica& replica : job.status.replicas) {
      if (!replica.grant || replica.grant->node != fact.name) continue;
      (*this)(PodDeleting{replica.Id(id), {}});
    }
  }
}

void Taker::operator()(const ReplicaStarted& fact) {
  job::Replica* replica = Of(fact.replica);
  if (replica == nullptr || !replica->alive) return;
  replica->phase = job::Phase::kRunning;
  // Its shim reads the wall's clock, which may have been set.
  if (!replica->started)
    replica->started = std::clamp(fact.at, replica->granted.value_or(now_), now_);
}

void Taker::operator()(const ReplicaSaid& fact) {
  job::Replica* replica = Find(fact.replica);
  if (replica == nullptr || !replica->alive) return;
  JobView& job = pool_.jobs_.at(fact.replica.job);
  const bool first = !replica->hello || (replica->step < 0 && fact.step >= 0);
  replica->hello = true;
  replica->step = std::max(replica->step, fact.step);
  if (!first && now_ - job.progress_at < kProgressEvery) return;
  job.progress_at = now_;
  pool_.Touch(fact.replica.job);
}

void Taker::operator()(const ReplicaExited& fact) {
  job::Replica* replica = Of(fact.replica);
  if (replica == nullptr || !replica->alive) return;
  if (fact.exit.reason == "NodeLost") replica->disrupted = true;
  Exited(*replica, fact.exit);
}

void Taker::Exited(job::Replica& replica, const job::Exit& exit) {
  replica.alive = false;
  replica.exit = exit;
  replica.phase = exit.code == 0 ? job::Phase::kSucceeded : job::Phase::kFailed;
}

void Taker::operator()(const ReplicaNotStarted& fact) {
  job::Replica* replica = Of(fact.replica);
  if (replica == nullptr || !replica->alive) return;
  const bool clash = !fact.ports_taken.empty();
  Exited(*replica,
         {.code = fact.code, .reason = "StartFailed", .message = fact.message, .at = fact.at});
  if (clash) ClashOfPorts(pool_.jobs_.at(fact.replica.job), fact.ports_taken);
}

// Somebody outside the pool listens on a port of the gang: its TF_CONFIG is void. All of it starts
// anew on fresh ports, which is nobody's fault; the taken ones are not offered for a while.
void Taker::ClashOfPorts(JobView& job, const std::vector<int>& ports) {
  for (const int port : ports) pool_.NoteStranger(port, now_);
  for (job::Replica& replica : job.status.replicas) {
    if (std::ranges::find(ports, replica.port) == ports.end()) continue;
    replica.port = 0;  // not ours to free
    replica.disrupted = true;
  }
  const bool alone = job::RestartScope(job.spec) == job::Scope::kReplica;
  if (alone && job.status.stage == job::Stage::kBound) {
    job::AskToYield(job.spec, job.status, now_);
  }
}

void Taker::operator()(const CheckpointSeen& fact) {
  const auto found = pool_.jobs_.find(fact.job);
  if (found == pool_.jobs_.end()) return;
  job::Status& status = found->second.status;
  std::optional<job::Checkpoint>& newest = status.checkpoint;
  job::Checkpoint seen = fact.checkpoint;
  // Its stamp is the wall's, whose clock may have been set back: a further step was saved later.
  const bool further = newest && newest->step >= 0 && seen.step > newest->step;
  if (newest && newest->at > seen.at) {
    if (!further) return;
    seen.at = std::max(now_, newest->at);
  }
  // The training names its last checkpoint in every report: it was saved when it was named first.
  const bool of_this_attempt = newest && (!status.bound || newest->at >= *status.bound);
  if (of_this_attempt && newest->step >= 0 && newest->step == seen.step) return;
  newest = std::move(seen);
  pool_.Touch(fact.job);
}

void Taker::operator()(const PodDeleting& fact) {
  job::Replica* replica = Of(fact.replica);
  if (replica == nullptr || !replica->present) return;
  if (!replica->deleting) replica->disrupted = true;
  replica->deleting = true;
  if (fact.by && (!replica->delete_by || *fact.by < *replica->delete_by)) {
    replica->delete_by = fact.by;
  }
}

void Taker::operator()(const GpusKept& fact) {
  REQUIRE(!pool_.jobs_.contains(fact.job));
  Pool::Kept& kept = pool_.kept_[fact.job];
  kept.path = fact.path;
  for (fleet::Grant grant : fact.grants) {
    pool_.ExpectNode(grant);
    const auto& holder = pool_.fleet().Find(grant.node)->holder;
    std::erase_if(grant.gpus, [&holder](int gpu) {
      return static_cast<std::size_t>(gpu) < holder.size() && holder[static_cast<std::size_t>(gpu)];
    });
    pool_.planner_->Bind({.job = fact.job}, grant, now_);
    kept.grants.push_back(std::move(grant));
  }
}

void Taker::operator()(const GpusFreed& fact) {
  const auto found = pool_.kept_.find(fact.job);
  if (found == pool_.kept_.end()) return;
  for (const fleet::Grant& grant : found->second.grants)
    pool_.planner_->Release(fact.job, grant, now_);
  pool_.kept_.erase(found);
}

void Taker::operator()(const ProgramsUnheard&) {
  for (const auto& [id, job] : pool_.jobs_) {
    const auto& replicas = job.status.replicas;
    if (std::ranges::any_of(replicas, &job::Replica::alive)) pool_.unheard_.insert(id);
  }
}

void Taker::operator()(const ProgramsHeard&) {
  for (const base::JobId id : pool_.unheard_) {
    if (pool_.jobs_.contains(id)) pool_.Touch(id);
  }
  pool_.unheard_.clear();
}

}  // namespace pondage::pool
