// The life of a TFJob, one step of the pool at a time.
#include <algorithm>

#include "base/assert.h"
#include "pool/pool.h"

namespace pondage::pool {

std::vector<Decision> Pool::Step(std::span<const Fact> facts, base::Instant now) {
  now = std::max(now, last_);
  last_ = now;
  std::vector<Decision> out;
  DropDeparted();
  Resume(now, out);

  // 1. Applied, started, said, saved, exited: what happened is taken into memory.
  for (const Fact& fact : facts) Take(fact, now);

  // 2. Time passed: delays, deadlines and grace periods that end now.
  while (!wakes_.empty() && wakes_.begin()->first <= now) {
    Touch(wakes_.begin()->second);
    wakes_.erase(wakes_.begin());
  }

  if (ports_return_ <= now) {
    ports_return_ = base::kNever;
    planner_->Reconsider();
  }

  // 3. Judged: each job that something happened to decides what it wants. Programs are stopped,
  //    restarted in place and removed; GPUs are released at the observed exit and charged up to it.
  JudgeTouched(now, out);

  // 4. Queued and planned: every gang that wants to start is offered what is free, in order, the
  //    whole of it or nothing; one that waits is given its reason.
  // 5. Bound: GPUs, ports and ranks of all its members at once; they start together.
  for (int round = 0; planner_->HasNews(now) && round < 3; ++round) PlanWaiting(now, out);

  // 6. Status: what changed is written, once per job.
  WriteStatuses(out);

  // 7. Until when nothing is to be done.
  const base::Instant judged = wakes_.empty() ? base::kNever : wakes_.begin()->first;
  const base::Instant wake = std::min({judged, ports_return_, planner_->wake()});
  out.push_back(WakeAt{planner_->HasNews(now) || !departed_.empty() ? now : wake});
  PROMISE(touched_.empty());
  return out;
}

void Pool::JudgeTouched(base::Instant now, std::vector<Decision>& out) {
  std::set<base::JobId> touched;
  touched.swap(touched_);
  for (const base::JobId id : touched) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) continue;
    changed_.insert(id);
    if (unheard_.contains(id)) continue;
    JobView& job = found->second;
    const job::Verdict verdict =
        job::Judge(job.identity, job.spec, job.status, job.removed, now, settings_.job);
    Carry(job, verdict, now, out);
  }
}

void Pool::Carry(JobView& job, const job::Verdict& verdict, base::Instant now,
                 std::vector<Decision>& out) {
  const base::JobId id = job.identity.id;
  for (const job::Action& action : verdict.actions) Do(job, action, now, out);
  for (const job::Note& note : verdict.notes) out.push_back(Emit{id, note});

  wakes_.erase({job.wake, id});
  job.wake = verdict.wake;
  if (job.wake != base::kNever) wakes_.insert({job.wake, id});

  const bool in_queue = job.status.stage == job::Stage::kWaiting && !job.spec.managed_elsewhere;
  const bool waits = in_queue || verdict.wants_gang;
  if (verdict.wants_gang)
    wants_.insert(id);
  else
    wants_.erase(id);
  if (waits)
    planner_->PutAsk(AskOf(job, now));
  else
    planner_->DropAsk(id);

  if (job.status.stage == job::Stage::kWaiting || job.status.stage == job::Stage::kEnded ||
      verdict.gone) {
    FreePorts(job);
  }
  if (verdict.gone || job.status.stage == job::Stage::kEnded) {
    departed_.insert(id);
    if (verdict.gone) out.push_back(ForgetJob{id});
  }
}

}  // namespace pondage::pool
