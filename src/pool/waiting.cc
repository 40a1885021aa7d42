// The gangs that wait: offered to the planner, started or given a reason; statuses that changed.
#include <algorithm>

#include "base/assert.h"
#include "plan/sentence.h"
#include "pool/pool.h"

namespace pondage::pool {
namespace {

job::Reason ReasonOf(const plan::Refusal& refusal, const plan::NameOf& name_of) {
  const phrase::Values values = plan::Facts(refusal, name_of);
  return {.id = refusal.id,
          .constraint = plan::ConstraintName(refusal.constraint),
          .message = plan::Sentence(refusal, phrase::Language::kEnglish, name_of),
          .need = refusal.need,
          .have = refusal.have,
          .start_latest = refusal.start_latest,
          .values = {values.begin(), values.end()},
          .help = refusal.help};
}

}  // namespace

plan::Ask Pool::AskOf(const JobView& job, base::Instant now) const {
  plan::Ask ask{.job = job.identity.id,
                .queue = job.spec.queue,
                .priority = job.spec.priority,
                .arrived = job.status.queued,
                .limit = job.spec.deadline};
  for (const auto& [role, index] : job::WantedMembers(job.spec, job.status)) {
    if (ask.groups.empty() || ask.groups.back().role != role) {
      ask.groups.push_back({role, 0, job.spec.roles.at(role).demand});
    }
    ++ask.groups.back().count;
  }
  if (job.spec.min_available) {
    ask.missing = std::max(0, *job.spec.min_available - job.spec.TotalReplicas());
  }
  ask.held = !wants_.contains(job.identity.id) && jobs_.contains(job.identity.id);
  if (job.status.not_before && *job.status.not_before > now) ask.not_before = job.status.not_before;
  return ask;
}

void Pool::PutAsk(plan::Ask ask) {
  const auto [found, is_new] = waits_.try_emplace(ask.job, asks_.size());
  if (is_new) {
    asks_.push_back(std::move(ask));
  } else {
    asks_[found->second] = std::move(ask);
  }
}

void Pool::DropAsk(base::JobId id) {
  const auto found = waits_.find(id);
  if (found == waits_.end()) return;
  const std::size_t place = found->second;
  waits_.erase(found);
  if (place + 1 != asks_.size()) {
    asks_[place] = std::move(asks_.back());
    waits_.at(asks_[place].job) = place;
  }
  asks_.pop_back();
}

std::vector<plan::Holding> Pool::Holdings() const {
  std::vector<plan::Holding> holdings;
  for (const base::JobId id : holding_) {
    const JobView& job = jobs_.at(id);
    plan::Holding holding{.job = id, .queue = job.spec.queue};
    for (const job::Replica& replica : job.status.replicas) {
      if (replica.grant) holding.gpus += static_cast<int>(replica.grant->gpus.size());
    }
    if (job.spec.deadline && job.status.start_time) {
      holding.ends_by = *job.status.start_time + *job.spec.deadline;
    }
    holdings.push_back(std::move(holding));
  }
  return holdings;
}

void Pool::PlanWaiting(base::Instant now, std::vector<Decision>& out) {
  replan_ = false;
  plan::Plan plan = plan::MakePlan({fleet_, queues_, asks_, Holdings()}, now);
  PROMISE(plan.start.size() + plan.wait.size() == waits_.size());

  for (const plan::Placement& placement : plan.start)
    Bind(jobs_.at(placement.job), placement, now, out);
  waiting_ = std::move(plan.wait);
  // A reason is for people: with many waiting it is refreshed less often, so that a busy pool does
  // not spend itself on rewriting the same sentence.
  const base::Millis refresh{
      std::max<std::int64_t>(5'000, 10 * static_cast<std::int64_t>(waiting_.size()))};
  for (const plan::Refusal& refusal : waiting_)
    Refuse(jobs_.at(refusal.job), refusal, now, refresh);
  JudgeTouched(now, out);  // what was bound settles in the same step
}

void Pool::Refuse(JobView& job, const plan::Refusal& refusal, base::Instant now,
                  base::Millis refresh) {
  const bool news = !job.status.reason || job.status.reason->id != refusal.id;
  // A start with thousands waiting does not begin by saying to each what was said to it before.
  if (!job.reason_at) job.reason_at = now;
  if (!news && now - *job.reason_at < refresh) return;
  job.reason_at = now;
  job::Reason reason = ReasonOf(refusal, Names());
  if (job.status.reason == reason) return;
  job.status.reason = std::move(reason);
  changed_.insert(job.identity.id);
}

plan::NameOf Pool::Names() const {
  return [this](base::JobId id) {
    const JobView* job = Find(id);
    if (job != nullptr) return job->identity.name;
    const auto kept = kept_.find(id);
    return kept == kept_.end() ? std::string("?") : kept->second.path;
  };
}

job::Status Pool::Preview(const job::Identity& identity, const job::Spec& spec,
                          base::Instant now) const {
  JobView job{identity, spec, job::FirstStatus(identity, spec, now)};
  const job::Verdict verdict =
      job::Judge(job.identity, job.spec, job.status, false, now, settings_.job);
  plan::Ask ask = AskOf(job, now);
  ask.held = !verdict.wants_gang;
  const plan::Plan plan = PlanWith(std::move(ask), now);
  for (const plan::Placement& placement : plan.start) {
    if (placement.job != identity.id) continue;
    const std::vector<int> no_ports(placement.grants.size(), 0);
    job::BindGang(spec, job.status, placement.grants, no_ports, now);
  }
  for (const plan::Refusal& refusal : plan.wait) {
    if (refusal.job == identity.id) job.status.reason = ReasonOf(refusal, Names());
  }
  return job.status;
}

plan::Plan Pool::PlanWith(plan::Ask more, base::Instant now) const {
  std::vector<plan::Ask> asks = asks_;
  asks.push_back(std::move(more));
  return plan::MakePlan({fleet_, queues_, asks, Holdings()}, now);
}

void Pool::WriteStatuses(std::vector<Decision>& out) {
  for (const base::JobId id : changed_) {
    const JobView& job = jobs_.at(id);
    const auto written = written_.find(id);
    if (written != written_.end() && written->second == job.status) continue;
    written_.insert_or_assign(id, job.status);
    out.push_back(SetStatus{id});
  }
  changed_.clear();
  for (const base::JobId id : departed_) {
    const JobView& job = jobs_.at(id);
    if (job.status.stage != job::Stage::kEnded || job.removed) continue;
    out.push_back(JobEnded{id, job::ExpiresAt(job.spec, job.status).value_or(base::kNever)});
  }
}

// Ended jobs stay until here so that the host can read what it has to write.
void Pool::DropDeparted() {
  for (const base::JobId id : departed_) {
    REQUIRE(!holding_.contains(id));
    const auto found = jobs_.find(id);
    REQUIRE(found != jobs_.end());
    wakes_.erase({found->second.wake, id});
    wants_.erase(id);
    DropAsk(id);
    written_.erase(id);
    jobs_.erase(found);
  }
  departed_.clear();
}

const JobView* Pool::Find(base::JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

}  // namespace pondage::pool
