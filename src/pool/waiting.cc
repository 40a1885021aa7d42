// The gangs that wait: offered to the planner, started or given a reason; statuses that changed.
#include <algorithm>
#include <utility>

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

// So many reasons are told anew in one step.
constexpr int kRefreshedAtOnce = 200;

plan::Lack LackOf(const job::Lack& lack, const std::string& space) {
  std::string what = std::string(job::NeedName(lack.need.kind)) + " " + lack.need.name;
  if (!lack.need.key.empty()) what += " (key " + lack.need.key + ")";
  return {.what = std::move(what), .where = space, .leaving = lack.leaving};
}

bool LacksPorts(const JobView& job) {
  return job.status.reason && job.status.reason->constraint == "ports";
}

}  // namespace

Pool::Pool(Settings settings)
    : settings_(settings), planner_(std::make_unique<plan::Planner>(settings.plan)) {}

plan::Ask Pool::AskOf(const JobView& job, base::Instant now) const {
  plan::Ask ask{.job = job.identity.id,
                .queue = job.spec.queue,
                .priority = job.spec.priority,
                .arrived = job.status.queued,
                .limit = job.spec.deadline,
                .ends_by = job::TimeUp(job.spec, job.status),
                .user = job.spec.user};
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
  if (!job.spec.suspend && job.status.not_before && *job.status.not_before > now)
    ask.not_before = job.status.not_before;
  // A member that a gang lost starts beside the others, which use what there is.
  if (job.lack && job.status.stage == job::Stage::kWaiting)
    ask.lack = LackOf(*job.lack, job.identity.space);
  return ask;
}

plan::Holding Pool::HoldingOf(const JobView& job) const {
  plan::Holding holding{.job = job.identity.id, .queue = job.spec.queue, .user = job.spec.user};
  holding.ends_by = job::TimeUp(job.spec, job.status);
  return holding;
}

// After a restart: those who wait are planned for as they were the last time before it, so that
// what they are promised does not depend on when the server was away. What is new comes then.
void Pool::Resume(base::Instant now, std::vector<Decision>& out) {
  const std::optional<base::Instant> planned = std::exchange(planned_, std::nullopt);
  if (!planned) return;
  std::set<base::JobId> others;
  for (const base::JobId id : touched_) {
    const JobView& job = jobs_.at(id);
    const bool waits = job.status.stage == job::Stage::kWaiting ||
                       !job::WantedMembers(job.spec, job.status).empty();
    if (!waits) others.insert(id);
  }
  for (const base::JobId id : others) touched_.erase(id);
  std::set<base::JobId> unheard;
  unheard.swap(unheard_);  // at that time nothing was unheard of
  JudgeTouched(std::min(*planned, now), out);
  unheard_.swap(unheard);
  PlanWaiting(std::min(*planned, now), out);
  walked_.reset();  // that is known
  touched_.merge(others);
}

void Pool::PlanWaiting(base::Instant now, std::vector<Decision>& out) {
  const plan::Plan plan = planner_->Cycle(now);
  walked_ = now;
  for (const plan::Placement& placement : plan.start)
    Bind(jobs_.at(placement.job), placement, now, out);
  KeepSlots(plan.moved);
  for (const plan::Refusal& news : plan.wait) {
    JobView& job = jobs_.at(news.job);
    const bool changed = Refuse(job, planner_->Explain(news.job), now);
    told_.insert({*job.reason_at, news.job});
    if (changed && news.constraint == plan::Constraint::kAbsent)
      out.push_back(Emit{news.job, {true, "ObjectMissing", job.status.reason->message}});
  }
  RefreshReasons(now);
  JudgeTouched(now, out);  // what was bound settles in the same step
}

void Pool::KeepSlots(const std::vector<base::JobId>& moved) {
  for (const base::JobId id : moved) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) continue;
    std::optional<job::Slot>& slot = job->second.status.slot;
    const auto reserved = planner_->Reserved(id);
    if (!slot && !reserved) continue;
    slot = reserved ? std::optional(job::Slot{reserved->at, reserved->grants}) : std::nullopt;
    changed_.insert(id);
  }
}

// A reason is for people: with many waiting it is refreshed less often, and so many at once, so
// that a busy pool does not spend itself on rewriting the same sentence. An entry of a job that was
// told something since, or waits no longer, is dropped when its turn comes.
void Pool::RefreshReasons(base::Instant now) {
  const auto waiting = static_cast<std::int64_t>(planner_->waiters().size());
  const base::Millis refresh{std::max<std::int64_t>(5'000, 10 * waiting)};
  for (int left = kRefreshedAtOnce; left > 0 && !told_.empty(); --left) {
    const auto [told, id] = *told_.begin();
    if (now - told < refresh) return;
    told_.erase(told_.begin());
    const auto job = jobs_.find(id);
    if (job == jobs_.end() || !planner_->waiters().contains(id)) continue;
    if (job->second.reason_at != told) {
      if (job->second.reason_at) told_.insert({*job->second.reason_at, id});
      continue;
    }
    if (!LacksPorts(job->second)) Refuse(job->second, planner_->Explain(id), now);
    job->second.reason_at = now;
    told_.insert({now, id});
  }
}

bool Pool::Refuse(JobView& job, const plan::Refusal& refusal, base::Instant now) {
  const bool news = !job.status.reason || job.status.reason->id != refusal.id;
  // A start with thousands waiting does not begin by saying to each what was said to it before.
  const bool loaded = !job.reason_at;
  job.reason_at = now;
  if (loaded && !news) return false;
  job::Reason reason = ReasonOf(refusal, NamesFor(job));
  if (job.status.reason == reason) return false;
  job.status.reason = std::move(reason);
  changed_.insert(job.identity.id);
  return true;
}

plan::NameOf Pool::NamesFor(const JobView& reader) const {
  return [this, &reader](base::JobId id) {
    if (const JobView* job = Find(id)) {
      const bool neighbour = job->identity.space == reader.identity.space;
      std::string name = neighbour ? job->identity.name : job->identity.Path();
      const std::string& user = job->spec.user;
      if (!user.empty() && user != reader.spec.user) name += " (" + user + ")";
      return name;
    }
    const auto kept = kept_.find(id);
    return kept == kept_.end() ? std::string("?") : kept->second.path;
  };
}

job::Status Pool::Preview(const job::Identity& identity, const job::Spec& spec,
                          const std::optional<job::Lack>& lack, base::Instant now) const {
  JobView job{identity, spec, job::FirstStatus(identity, spec, now)};
  job.lack = lack;
  const job::Verdict verdict =
      job::Judge(job.identity, job.spec, job.status, false, now, settings_.job);
  plan::Ask ask = AskOf(job, now);
  ask.held = !verdict.wants_gang;
  const plan::Planner::Preview preview = planner_->Try(std::move(ask), now);
  if (preview.start) {
    const std::vector<int> no_ports(preview.start->grants.size(), 0);
    job::BindGang(spec, job.status, preview.start->grants, no_ports, now);
  } else {
    job.status.reason = ReasonOf(preview.refusal, NamesFor(job));
  }
  return job.status;
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
  for (const std::string& queue : used_) out.push_back(SetUse{queue});
  used_.clear();
  if (walked_ && !planner_->waiters().empty()) out.push_back(Planned{*walked_});
  walked_.reset();
  for (const base::JobId id : departed_) {
    const JobView& job = jobs_.at(id);
    if (job.status.stage != job::Stage::kEnded || job.removed) continue;
    out.push_back(JobEnded{id, job::ExpiresAt(job.spec, job.status).value_or(base::kNever)});
  }
}

// Ended jobs stay until here so that the host can read what it has to write.
void Pool::DropDeparted() {
  for (const base::JobId id : departed_) {
    REQUIRE(!planner_->holdings().contains(id));
    const auto found = jobs_.find(id);
    REQUIRE(found != jobs_.end());
    wakes_.erase({found->second.wake, id});
    wants_.erase(id);
    planner_->DropAsk(id);
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
