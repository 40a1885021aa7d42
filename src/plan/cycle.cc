#include "plan/cycle.h"

#include <algorithm>

#include "base/assert.h"

namespace pondage::plan {
namespace {

// A job that names no limit and takes a shorter time gets at most so many seconds.
constexpr std::int64_t kLongest = std::int64_t{10} * 365 * 24 * 3600;

base::Instant EndOf(base::Instant at, std::optional<base::Millis> limit) {
  return limit ? at + *limit : base::kNever;
}

bool IsStrict(const queue::Tree& queues, const Cohort& cohort) {
  const queue::Spec* spec = queues.Find(cohort.bucket->key.queue);
  return spec != nullptr && spec->order == queue::Order::kStrict;
}

bool WantTheSame(const fleet::Demand& a, const fleet::Demand& b) {
  const bool gpus_a = a.gpus > 0 || a.IsPart();
  const bool gpus_b = b.gpus > 0 || b.IsPart();
  if (!gpus_a || !gpus_b) return gpus_a == gpus_b;
  if (a.gpu_type.empty() || b.gpu_type.empty()) return true;
  const auto accepts = [&b](const std::string& type) {
    return fleet::IsOfType(fleet::Gpu{.type = type}, b);
  };
  return accepts(a.gpu_type) || std::ranges::any_of(a.or_types, accepts);
}

bool WantTheSame(const Shape& a, const Shape& b) {
  return std::ranges::any_of(a.parts, [&b](const Part& one) {
    return std::ranges::any_of(
        b.parts, [&one](const Part& other) { return WantTheSame(one.demand, other.demand); });
  });
}

}  // namespace

void Judge(Ground& ground, Form& form) {
  if (form.judged == ground.version()) return;
  form.judged = ground.version();
  form.ever = Fits(ground, ground.all(), form);
  form.healthy = form.ever && Fits(ground, ground.healthy(), form);
}

Cycle::Cycle(Desk desk, base::Instant now)
    : desk_(desk), now_(now), mark_(desk.ground.now().Mark()) {}

Cycle::~Cycle() {
  desk_.ground.now().Undo(mark_);
  for (const Started& started : started_) desk_.queues.Refund(started.ask->queue, started.charge);
}

Plan Cycle::Run() {
  desk_.line.Begin(desk_.ground, desk_.queues, now_);
  of_array_ = desk_.arrays;
  if (!desk_.outages.empty()) OpenCalendar();
  while (Cohort* cohort = desk_.line.Next()) Offer(*cohort);
  for (Started& started : started_) {
    std::vector<fleet::Grant> grants;
    grants.reserve(started.seats.size());
    for (const Seat& seat : started.seats) {
      grants.push_back(GrantOf(desk_.ground, desk_.ground.states(), seat));
    }
    const Shape& shape = *desk_.ground.Of(desk_.line.Find(started.ask->job)->shape).shape;
    plan_.start.push_back({started.ask->job,
                           InMemberOrder(started.ask->groups, shape, std::move(grants)),
                           started.limit});
  }
  for (const Placement& placement : plan_.start) starts_.push_back(placement.job);
  std::ranges::sort(starts_);
  for (const auto& [job, reservation] : reservations_) {
    if (reservation.at > now_) plan_.wake = std::min(plan_.wake, reservation.at);
  }
  desk_.reservations = std::move(reservations_);
  if (!desk_.quiet) Say();
  return std::move(plan_);
}

void Cycle::Offer(Cohort& cohort) {
  Form& form = desk_.ground.Of(cohort.key.shape);
  Judge(desk_.ground, form);
  const Ask& ask = desk_.line.Find(cohort.jobs[cohort.next].second)->ask;
  if (!MayStart(cohort, form)) {
    desk_.line.Close(cohort);
    return;
  }
  const std::optional<base::Millis> whole = LimitOf(ask);
  const auto [failed, is_new] = failed_.try_emplace({cohort.key.shape, whole}, true);
  if (is_new && !blocked_) {
    Found found = Try(form, whole);
    if (found.seats) {
      failed_.erase(failed);
      return Start(cohort, ask, form, *std::move(found.seats), whole);
    }
    failed->second = found.proven;
  }
  if (ask.min_time && !blocked_) {
    std::optional<base::Millis> limit = whole;
    Found found = TryShorter(ask, form, limit);
    if (found.seats) return Start(cohort, ask, form, *std::move(found.seats), limit);
  }
  cohort.keeps.proven = failed->second;
  if (IsStrict(desk_.queues, cohort)) strict_[ask.queue].push_back(cohort.key.shape);
  blocked_ |= desk_.policy.backfill == Backfill::kLine;
  if (Reserve(ask, form)) {
    desk_.line.Advance(cohort);
    return;
  }
  if (desk_.policy.backfill != Backfill::kFree && kept_.contains(cohort.key.shape)) {
    cohort.keeps.room = true;
    cohort.keeps.whole = kept_.at(cohort.key.shape);
  }
  desk_.line.Close(cohort);
}

bool Cycle::MayStart(Cohort& cohort, const Form& form) {
  const queue::Tree& queues = desk_.queues;
  const std::string& queue = cohort.bucket->key.queue;
  if (form.members > kMostMembers || !form.healthy) return false;
  if (queues.Find(queue) == nullptr || queues.HeldAt(queue)) return false;
  if (queues.NeverFits(queue, form.charge) || IsThrottled(cohort)) return false;
  return !IsHeldBack(cohort, form) && PassesLimits(cohort, form);
}

// In a strict queue nobody passes one who waits for the same kind of resource.
bool Cycle::IsHeldBack(const Cohort& cohort, const Form& form) const {
  const auto waiting = strict_.find(cohort.bucket->key.queue);
  if (waiting == strict_.end()) return false;
  return std::ranges::any_of(waiting->second, [&](ShapeId shape) {
    return WantTheSame(*desk_.ground.Of(shape).shape, *form.shape);
  });
}

bool Cycle::PassesLimits(Cohort& cohort, const Form& form) {
  if (form.charge.value == 0) return true;
  if (OverUserLimit(cohort, form)) return false;
  const std::string& queue = cohort.bucket->key.queue;
  if (!full_levels_.empty()) {
    for (const std::string_view level : desk_.queues.PathUp(queue)) {
      if (!full_levels_.contains(level)) continue;
      cohort.keeps.level = level;
      return false;
    }
  }
  const std::optional<queue::Over> over = desk_.queues.WouldExceed(queue, form.charge);
  if (!over) return true;
  full_levels_.insert(over->queue);
  cohort.keeps.level = over->queue;
  return false;
}

// What one user may hold in a queue concerns nobody else: nothing is kept for it.
std::optional<queue::Over> Cycle::OverUserLimit(const Cohort& cohort, const Form& form) const {
  const queue::Spec* spec = desk_.queues.Find(cohort.bucket->key.queue);
  if (spec == nullptr || !spec->user_limit || form.charge.value == 0) return {};
  const std::string& user = desk_.line.Find(cohort.jobs.front().second)->ask.user;
  base::MilliGpu used = desk_.queues.HeldBy(spec->name, user);
  const auto started = user_started_.find({spec->name, user});
  if (started != user_started_.end()) used += started->second;
  if (used + form.charge <= *spec->user_limit) return {};
  return queue::Over{spec->name, used, *spec->user_limit, form.charge};
}

// In what nobody keeps, or in what is kept for later than its end.
Found Cycle::Try(const Form& form, std::optional<base::Millis> limit) {
  Found nothing;
  const bool whole = form.charge == base::WholeGpus(form.gpus);
  if (whole && form.gpus > desk_.ground.now().whole_gpus()) return nothing;
  if (!open_) return PlaceGang(desk_.ground, desk_.ground.now(), form, desk_.lost);
  if (!HasRoom(desk_.ground, desk_.ground.now(), form)) return nothing;
  Look(limit);
  return PlaceGang(desk_.ground, *open_, form, desk_.lost);
}

// The longest time for which there is room at once. The more time, the less room: by halving, over
// whole seconds.
Found Cycle::TryShorter(const Ask& ask, const Form& form, std::optional<base::Millis>& limit) {
  if (!calendar_) return {};  // nothing is kept: a shorter time finds nothing more
  const base::Millis second = base::SecondsLong(1);
  std::int64_t fits = 0;
  std::int64_t fails = limit ? limit->value / second.value + 1 : kLongest;
  const std::int64_t least = (ask.min_time->value + second.value - 1) / second.value;
  for (std::int64_t next = std::max<std::int64_t>(least, 1); next < fails;
       next = fits + (fails - fits) / 2) {
    const std::optional<std::vector<Seat>> seats = Try(form, base::SecondsLong(next)).seats;
    const bool found = seats.has_value();
    for (std::size_t i = 0; found && i < seats->size(); ++i) Show((*seats)[i].node);
    (found ? fits : fails) = next;
    if (fits == 0 || fails - fits <= 1) break;
  }
  if (fits == 0) return {};
  limit = base::SecondsLong(fits);
  return Try(form, limit);
}

bool Cycle::IsThrottled(const Cohort& cohort) const {
  if (cohort.key.array.empty()) return false;
  const auto running = of_array_.find(cohort.key.array);
  return running != of_array_.end() && running->second >= cohort.key.throttle;
}

// Turns open_ to what a gang that ends by then may use.
void Cycle::Look(std::optional<base::Millis> limit) {
  const base::Instant ends = EndOf(now_, limit);
  if (ends == shown_) return;
  shown_ = ends;
  for (const std::size_t node : promised_) Show(node);
}

void Cycle::Show(std::size_t node) {
  open_->Set(node, calendar_->Through(node, calendar_->at_once(), shown_));
}

void Cycle::Start(Cohort& cohort, const Ask& ask, const Form& form, std::vector<Seat> seats,
                  std::optional<base::Millis> limit) {
  if (!ask.array.empty()) ++of_array_[ask.array];
  desk_.queues.Charge(ask.queue, form.charge);
  desk_.line.Count(*cohort.bucket, form.charge);
  user_started_[{ask.queue, ask.user}] += form.charge;
  if (calendar_) {
    fleet::View& now = desk_.ground.now();
    for (const Seat& seat : seats) {
      now.Set(seat.node, desk_.ground.states().Take(now.At(seat.node), seat.demand, seat.pick));
    }
    calendar_->Enter(seats, calendar_->at_once(), EndOf(now_, limit));
    for (const Seat& seat : seats) {
      if (promised_.contains(seat.node)) Show(seat.node);
    }
  }
  ++cohort.started;
  started_.push_back({&ask, std::move(seats), form.charge, limit});
  desk_.line.Advance(cohort);
}

void Cycle::OpenCalendar() {
  calendar_.emplace(desk_.ground, desk_.holdings, now_);
  for (const Outage& outage : desk_.outages) {
    const std::optional<std::size_t> node = desk_.ground.Find(outage.node);
    if (!node || outage.to <= now_) continue;
    calendar_->Close(*node, std::max(outage.from, calendar_->at_once()), outage.to);
    promised_.insert(*node);
    plan_.wake = std::min({plan_.wake, outage.from > now_ ? outage.from : base::kNever, outage.to});
  }
  for (const Started& started : started_) {
    if (started.limit) calendar_->Leave(started.seats, now_ + *started.limit);
  }
  open_.emplace(desk_.ground.now());
  for (const std::size_t node : promised_) Show(node);
  for (std::size_t node = 0; node < desk_.ground.nodes(); ++node) {
    if (desk_.ground.healthy().At(node) != fleet::kOut) with_any_.push_back(node);
  }
  with_gpus_ = with_any_;
}

// True when this job has a reservation now. A shape whose start nobody can foresee keeps what it
// could use.
bool Cycle::Reserve(const Ask& ask, const Form& form) {
  if (desk_.policy.backfill == Backfill::kFree || blocked_) return false;
  if (static_cast<int>(reservations_.size()) >= desk_.policy.reservations) return false;
  if (!calendar_) OpenCalendar();
  Cohort& cohort = *desk_.line.Find(ask.job)->cohort;
  if (desk_.policy.backfill == Backfill::kConservative && !kept_.contains(cohort.key.shape)) {
    if (std::optional<Reservation> slot = Slot(ask, form)) {
      const base::Instant at = std::max(slot->at, now_);
      calendar_->Enter(slot->seats, at, EndOf(at, LimitOf(ask)));
      for (const Seat& seat : slot->seats) {
        promised_.insert(seat.node);
        Show(seat.node);
      }
      reservations_.emplace(ask.job, *std::move(slot));
      return true;
    }
  }
  KeepForUnknownTime(cohort, form);
  return false;
}

// What is left of the time of one whose clock runs: more than that it will not need, later either.
std::optional<base::Millis> Cycle::LimitOf(const Ask& ask) const {
  if (!ask.ends_by) return ask.limit;
  return std::max(*ask.ends_by - now_, base::Millis{1});
}

// The one it has, unless there is an earlier one, or it is lost.
std::optional<Reservation> Cycle::Slot(const Ask& ask, const Form& form) {
  const std::optional<base::Millis> limit = LimitOf(ask);
  const auto had = desk_.reservations.find(ask.job);
  if (had == desk_.reservations.end()) return calendar_->Find(form, limit, desk_.lost);
  // One whose time has come and that could not start begins as soon as it can.
  const Reservation& old = had->second;
  const base::Instant at = std::max(old.at, now_);
  if (auto earlier = calendar_->Find(form, limit, desk_.lost, at)) return earlier;
  if (calendar_->IsFree(old, at, limit)) return old;
  return calendar_->Find(form, limit, desk_.lost);
}

void Cycle::KeepForUnknownTime(Cohort& cohort, const Form& form) {
  const auto [kept, is_new] = kept_.try_emplace(cohort.key.shape, false);
  if (!is_new) return;
  Shape without_gpus = *form.shape;
  for (Part& part : without_gpus.parts) {
    part.demand.gpus = 0;
    part.demand.share = {};
    part.demand.gpu_memory = {};
  }
  Ground& ground = desk_.ground;
  const ShapeId shape = ground.Number(without_gpus);
  kept->second = !Fits(ground, *open_, ground.Of(shape));
  for (const NumberedPart& part : ground.Of(cohort.key.shape).parts) {
    const fleet::Demand& asked = ground.states().Asked(part.demand);
    if (asked.gpus == 0 && !asked.IsPart() && !kept->second) continue;
    const fleet::NodeSet* allowed = ground.Allowed(part.demand);
    std::erase_if(kept->second ? with_any_ : with_gpus_, [&](std::size_t node) {
      if (allowed != nullptr && !allowed->Has(node)) return false;
      if (ground.states().Capacity(ground.all().At(node), part.demand) == 0) return false;
      const bool open = calendar_->Close(node, part.demand, kept->second);
      Show(node);
      return !open;
    });
  }
}

// Names the jobs whose verdict is news.
void Cycle::Say() {
  for (auto& [key, bucket] : desk_.line.buckets()) {
    for (auto& [cohort_key, cohort] : bucket.cohorts) {
      if (cohort.started == cohort.jobs.size()) continue;
      const Verdict verdict = VerdictOf(cohort);
      const bool fits =
          verdict.constraint == Constraint::kOrder || verdict.constraint == Constraint::kReserved;
      if (fits) plan_.wake = std::min(plan_.wake, now_ + desk_.policy.again);
      const bool news = cohort.said != verdict;
      cohort.said = verdict;
      if (!news && desk_.fresh.empty()) continue;
      for (const auto& [arrived, job] : cohort.jobs) {
        if (!news && !desk_.fresh.contains(job)) continue;
        if (std::ranges::binary_search(starts_, job)) continue;
        plan_.wait.push_back({.job = job,
                              .constraint = verdict.constraint,
                              .need = verdict.need,
                              .have = verdict.have});
      }
    }
  }
}

// The same tests in the same order as Explainer's.
Verdict Cycle::VerdictOf(const Cohort& cohort) {
  const Form& form = desk_.ground.Of(cohort.key.shape);
  const std::string& queue = cohort.bucket->key.queue;
  const queue::Tree& queues = desk_.queues;
  if (queues.Find(queue) == nullptr) return {Constraint::kNoQueue, form.gpus, 0};
  if (queues.HeldAt(queue)) return {Constraint::kHeld, form.gpus, 0};
  if (IsThrottled(cohort)) return {Constraint::kThrottled, cohort.key.throttle, 0};
  if (form.members > kMostMembers) return {Constraint::kNever, form.members, kMostMembers};
  if (const auto over = queues.NeverFits(queue, form.charge)) {
    return {Constraint::kNever, form.gpus, over->limit.value / 1000};
  }
  if (!form.ever) return {Constraint::kNever, form.gpus, 0};
  if (!form.healthy) return {Constraint::kUnhealthy, form.gpus, 0};
  if (const auto over = OverUserLimit(cohort, form)) {
    if (form.charge > over->limit) return {Constraint::kNever, form.gpus, over->limit.value / 1000};
    return {Constraint::kLimit, form.gpus, (over->limit - over->used).value / 1000};
  }
  if (const auto over = queues.WouldExceed(queue, form.charge)) {
    return {Constraint::kLimit, form.gpus, (over->limit.value - over->used.value) / 1000};
  }
  return RoomFor(cohort.key.shape);
}

Verdict Cycle::RoomFor(ShapeId shape) {
  const auto [known, is_new] = room_.try_emplace(shape);
  if (!is_new) return known->second;
  Form& form = desk_.ground.Of(shape);
  fleet::View& now = desk_.ground.now();
  const bool whole = form.charge == base::WholeGpus(form.gpus);
  Verdict verdict{Constraint::kBusy, form.gpus, now.whole_gpus()};
  if (!(whole && form.gpus > now.whole_gpus()) && Fits(desk_.ground, now, form)) {
    verdict.constraint = kept_.empty() ? Constraint::kReserved : Constraint::kOrder;
  } else if (verdict.have >= verdict.need) {
    verdict.constraint = Constraint::kFragmented;
  }
  return known->second = verdict;
}

}  // namespace pondage::plan
