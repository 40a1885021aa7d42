#include "plan/explain.h"

#include <algorithm>

#include "base/assert.h"
#include "plan/help.h"
#include "plan/measure.h"
#include "plan/place.h"

namespace pondage::plan {
namespace {

Refusal Of(const Waiter& waiter, const Form& form, Constraint constraint, const char* id) {
  Refusal refusal;
  refusal.job = waiter.ask.job;
  refusal.constraint = constraint;
  refusal.id = id;
  refusal.need = form.gpus;
  return refusal;
}

void WriteQuota(const queue::Over& over, Refusal& refusal) {
  refusal.resource = "quota";
  refusal.where = over.queue;
  refusal.used = over.used.value / 1000;    // whole GPUs are charged: nothing is lost
  refusal.limit = over.limit.value / 1000;  // a limit's fraction serves no whole GPU
}

}  // namespace

Explainer::Explainer(Desk desk, base::Instant now) : desk_(desk), now_(now), reaches_(desk.ground) {
  FindKeepers();
}

Refusal Explainer::Explain(const Waiter& waiter) {
  if (std::optional<Refusal> unready = Unready(waiter)) return *unready;
  const Known& known = OfShape(waiter);
  Refusal refusal = known.refusal;
  refusal.job = waiter.ask.job;
  if (refusal.constraint == Constraint::kNever || refusal.constraint == Constraint::kUnhealthy) {
    return refusal;  // it waits for no other job, and no other for it
  }
  if (const std::optional<Refusal> over = OverLimit(waiter)) refusal = *over;
  refusal.proven = waiter.cohort->keeps.proven;
  const auto reservation = desk_.reservations.find(waiter.ask.job);
  if (refusal.constraint != Constraint::kLimit && reservation != desk_.reservations.end()) {
    refusal.start_latest = std::max(reservation->second.at, now_);
  }
  NameAhead(waiter, known.reach, refusal);
  NameOutage(refusal);
  return refusal;
}

// Nobody is ahead, and it would fit: then its machines leave before it would have ended.
void Explainer::NameOutage(Refusal& refusal) const {
  if (refusal.constraint != Constraint::kOrder || refusal.ahead_count > 0) return;
  for (const Outage& outage : desk_.outages) {
    if (outage.to <= now_ || (refusal.until && outage.from >= *refusal.until)) continue;
    refusal.until = outage.from;
    refusal.where = outage.node;
  }
  if (!refusal.until) return;
  refusal.constraint = Constraint::kReserved;
  refusal.id = "PND-Q027";
  const std::int64_t seconds = (*refusal.until - now_).value / 1000;
  if (seconds > 0) refusal.help = "time=" + std::to_string(seconds);
}

// Jobs with a reservation keep exact GPUs; closed cohorts keep what they could use, or room under a
// limit.
void Explainer::FindKeepers() {
  for (const Waiter* waiter : desk_.line.InOrder()) {
    const Keeps& keeps = waiter->cohort->keeps;
    Keeper keeper{.place = waiter->place, .job = waiter->ask.job};
    if (const auto slot = desk_.reservations.find(keeper.job); slot != desk_.reservations.end()) {
      keeper.starts = std::max(slot->second.at, now_);
    } else if (!keeps.level.empty()) {
      keeper.quota = &keeps.level;
    }
    keeper.room = keeper.starts || keeps.room;
    if (!keeper.room && keeper.quota == nullptr) continue;
    if (keeper.room) {
      const Form& form = FormOf(*waiter);
      const bool amounts = TotalMilliCpu(*form.shape) > 0 || TotalBytes(*form.shape) > 0;
      keeper.reach = ReachOf(*waiter);
      keeper.machines = keeps.whole || (keeper.starts && amounts);
    }
    keepers_.push_back(keeper);
  }
}

std::optional<Refusal> Explainer::Unready(const Waiter& waiter) {
  const Ask& ask = waiter.ask;
  const Form& form = FormOf(waiter);
  if (ask.held) {
    Refusal held = Of(waiter, form, Constraint::kHeld, ask.not_before ? "PND-Q004" : "PND-Q002");
    held.until = ask.not_before;
    return held;
  }
  if (ask.lack) {
    Refusal absent =
        Of(waiter, form, Constraint::kAbsent, ask.lack->leaving ? "PND-Q029" : "PND-Q028");
    absent.what = ask.lack->what;
    absent.where = ask.lack->where;
    return absent;
  }
  if (desk_.queues.Find(ask.queue) == nullptr) {
    Refusal unknown = Of(waiter, form, Constraint::kNoQueue, "PND-Q001");
    unknown.where = ask.queue;
    return unknown;
  }
  if (const std::optional<std::string> level = desk_.queues.HeldAt(ask.queue)) {
    Refusal held = Of(waiter, form, Constraint::kHeld, "PND-Q003");
    held.where = *level;
    return held;
  }
  if (waiter.cohort != nullptr && !ask.array.empty()) {
    const auto runs = [&](const auto& entry) { return entry.second.array == ask.array; };
    const auto running = std::ranges::count_if(desk_.holdings, runs);
    if (running >= ask.throttle) {
      Refusal throttled = Of(waiter, form, Constraint::kThrottled, "PND-Q026");
      throttled.where = ask.array;
      throttled.used = running;
      throttled.limit = ask.throttle;
      return throttled;
    }
  }
  if (ask.missing > 0) {
    Refusal incomplete = Of(waiter, form, Constraint::kIncomplete, "PND-Q005");
    incomplete.resource = "members";
    incomplete.have = form.members;
    incomplete.need = incomplete.have + ask.missing;
    return incomplete;
  }
  if (form.members > kMostMembers) {
    Refusal never = Of(waiter, form, Constraint::kNever, "PND-Q019");
    never.resource = "members";
    never.need = form.members;
    never.have = kMostMembers;
    return never;
  }
  const queue::Spec* spec = desk_.queues.Find(ask.queue);
  if (spec->user_limit && form.charge > *spec->user_limit) {
    Refusal never = Of(waiter, form, Constraint::kNever, "PND-Q011");
    WriteQuota({spec->name, {}, *spec->user_limit, form.charge}, never);
    never.have = never.limit;
    if (never.limit > 0) never.help = "total=" + std::to_string(never.limit);
    return never;
  }
  if (const auto over = desk_.queues.NeverFits(ask.queue, form.charge)) {
    Refusal never = Of(waiter, form, Constraint::kNever, "PND-Q011");
    WriteQuota(*over, never);
    never.have = never.limit;
    if (never.limit > 0) never.help = "total=" + std::to_string(never.limit);
    return never;
  }
  return {};
}

std::optional<Refusal> Explainer::OverLimit(const Waiter& waiter) {
  const Form& form = FormOf(waiter);
  if (std::optional<Refusal> own = OverUserLimit(waiter)) return own;
  const auto over = desk_.queues.WouldExceed(waiter.ask.queue, form.charge);
  if (!over) return {};
  Refusal refusal = Of(waiter, form, Constraint::kLimit, "PND-Q006");
  WriteQuota(*over, refusal);
  refusal.have = std::max<std::int64_t>(0, refusal.limit - refusal.used);
  std::map<base::JobId, std::int64_t> amounts;
  for (const auto& [job, holding] : desk_.holdings) {
    const auto path = desk_.queues.PathUp(holding.queue);
    if (std::ranges::find(path, refusal.where) != path.end()) amounts[job] = holding.gpus;
  }
  NameHolders(amounts, refusal);
  if (refusal.have > 0) refusal.help = "total=" + std::to_string(refusal.have);
  return refusal;
}

std::optional<Refusal> Explainer::OverUserLimit(const Waiter& waiter) {
  const Form& form = FormOf(waiter);
  const queue::Spec* spec = desk_.queues.Find(waiter.ask.queue);
  if (spec == nullptr || !spec->user_limit || form.charge.value == 0) return {};
  const base::MilliGpu used = desk_.queues.HeldBy(spec->name, waiter.ask.user);
  if (used + form.charge <= *spec->user_limit) return {};
  Refusal refusal = Of(waiter, form, Constraint::kLimit, "PND-Q023");
  WriteQuota({spec->name, used, *spec->user_limit, form.charge}, refusal);
  refusal.have = std::max<std::int64_t>(0, refusal.limit - refusal.used);
  std::map<base::JobId, std::int64_t> amounts;
  for (const auto& [job, holding] : desk_.holdings) {
    if (holding.queue == spec->name && holding.user == waiter.ask.user) amounts[job] = holding.gpus;
  }
  NameHolders(amounts, refusal);
  if (refusal.have > 0) refusal.help = "total=" + std::to_string(refusal.have);
  return refusal;
}

const Explainer::Known& Explainer::OfShape(const Waiter& waiter) {
  const auto known = of_shape_.find(waiter.shape);
  if (known != of_shape_.end()) return known->second;
  return of_shape_.emplace(waiter.shape, Known{OfFleet(waiter), ReachOf(waiter)}).first->second;
}

ReachId Explainer::ReachOf(const Waiter& waiter) {
  const auto [known, is_new] = reach_of_.try_emplace(waiter.shape, 0);
  if (is_new) known->second = reaches_.Of(FormOf(waiter));
  return known->second;
}

Refusal Explainer::OfFleet(const Waiter& waiter) {
  Form& form = desk_.ground.Of(waiter.shape);
  Judge(desk_.ground, form);
  if (!form.ever) return Never(waiter);
  if (!form.healthy) return Unhealthy(waiter);
  if (Fits(desk_.ground, desk_.ground.now(), form)) {
    return Of(waiter, form, Constraint::kOrder, "PND-Q009");
  }
  return NoRoom(waiter);
}

// It would fit were it not for the required level of the topology.
std::optional<Refusal> Explainer::Scattered(const Waiter& waiter, fleet::View& view,
                                            Constraint constraint, const char* id) {
  Ground& ground = desk_.ground;
  const Form& form = FormOf(waiter);
  const Topology& topology = form.shape->topology;
  if (!topology.required) return {};
  Shape anywhere = *form.shape;
  anywhere.topology = {};
  if (!Fits(ground, view, ground.Of(ground.Number(anywhere)))) return {};
  Refusal refusal = Of(waiter, form, constraint, id);
  refusal.resource = "topology";
  refusal.where = topology.level;
  for (const auto& [name, nodes] : ground.Domains(topology.level)) {
    std::int64_t here = 0;
    for (std::size_t node = 0; node < ground.nodes(); ++node) {
      if (nodes.Has(node)) here += view.states().Of(view.At(node)).WholeGpus();
    }
    refusal.block = std::max(refusal.block, here);
  }
  refusal.have = refusal.block;
  return refusal;
}

Refusal Explainer::Never(const Waiter& waiter) {
  Ground& ground = desk_.ground;
  if (auto scattered = Scattered(waiter, ground.all(), Constraint::kNever, "PND-Q024")) {
    return *scattered;
  }
  const Form& form = FormOf(waiter);
  const Want want = WhatBinds(ground, ground.all(), *form.shape, true);
  Refusal never = Of(waiter, form, Constraint::kNever, "");
  Measure(ground, ground.all(), *form.shape, want, never);
  switch (want) {
    case Want::kType:
      never.id = "PND-Q013";
      break;
    case Want::kLabel:
      never.id = "PND-Q014";
      break;
    case Want::kCpu:
      never.id = "PND-Q015";
      break;
    case Want::kMemory:
      never.id = "PND-Q016";
      break;
    case Want::kGpu:
      never.id = "PND-Q012";
      break;
  }
  never.help = CheapestChange(waiter.ask, ground, ground.all());
  return never;
}

Refusal Explainer::Unhealthy(const Waiter& waiter) {
  const Ground& ground = desk_.ground;
  const Form& form = FormOf(waiter);
  Refusal refusal = Of(waiter, form, Constraint::kUnhealthy, "PND-Q010");
  Measure(ground, desk_.ground.healthy(), *form.shape, Want::kGpu, refusal);
  refusal.where.clear();
  for (std::size_t i = 0; i < ground.nodes(); ++i) {
    const fleet::Node& node = ground.place(i).node;
    const bool useful = std::ranges::any_of(
        form.shape->parts, [&](const Part& part) { return fleet::CouldFit(node, part.demand); });
    if (!useful || node.health == fleet::Health::kReady) continue;
    if (refusal.where.empty()) {
      refusal.where = node.name;
      if (!node.trouble.empty()) refusal.where += " (" + node.trouble + ")";
    }
    if (node.health == fleet::Health::kCordoned && node.trouble.empty() && refusal.help.empty()) {
      refusal.help = "uncordon=" + node.name;
    }
  }
  return refusal;
}

Refusal Explainer::NoRoom(const Waiter& waiter) {
  Ground& ground = desk_.ground;
  if (auto scattered = Scattered(waiter, ground.now(), Constraint::kFragmented, "PND-Q025")) {
    return *scattered;
  }
  const Form& form = FormOf(waiter);
  const Want want = WhatBinds(ground, ground.now(), *form.shape, false);
  Refusal refusal = Of(waiter, form, Constraint::kBusy, "");
  Measure(ground, ground.now(), *form.shape, want, refusal);
  if (refusal.have >= refusal.need) refusal.constraint = Constraint::kFragmented;
  const bool together = refusal.have > 0 && refusal.block < refusal.block_need;
  switch (want) {
    case Want::kCpu:
      refusal.id = "PND-Q017";
      break;
    case Want::kMemory:
      refusal.id = "PND-Q018";
      break;
    default:
      refusal.id =
          together || refusal.constraint == Constraint::kFragmented ? "PND-Q007" : "PND-Q008";
  }
  refusal.help = CheapestChange(waiter.ask, ground, ground.now());
  std::map<base::JobId, std::int64_t> amounts;
  for (std::size_t i = 0; i < ground.nodes(); ++i) {
    if (ground.now().At(i) == fleet::kOut) continue;
    AddHolders(ground.place(i), *form.shape, refusal.resource, amounts);
  }
  NameHolders(amounts, refusal);
  return refusal;
}

void Explainer::NameHolders(const std::map<base::JobId, std::int64_t>& amounts,
                            Refusal& refusal) const {
  std::vector<std::pair<std::int64_t, base::JobId>> most;
  for (const auto& [job, amount] : amounts) {
    if (amount == 0) continue;
    most.emplace_back(-amount, job);
    const auto holding = desk_.holdings.find(job);
    if (holding == desk_.holdings.end() || !holding->second.ends_by) continue;
    refusal.until = std::min(refusal.until.value_or(base::kNever), *holding->second.ends_by);
  }
  std::ranges::sort(most);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, most.size()); ++i) {
    refusal.holders.push_back(most[i].second);
  }
}

const std::vector<Explainer::Before>& Explainer::InTheWayOf(const Waiter& waiter, ReachId reach) {
  const std::string& queue = FormOf(waiter).gpus > 0 ? waiter.ask.queue : "";
  const auto [known, is_new] = in_the_way_.try_emplace({reach, queue});
  std::vector<Before>& before = known->second;
  if (!is_new) return before;
  const std::vector<std::string_view> path = desk_.queues.PathUp(queue);
  base::Instant first_start = base::kNever;
  bool all_start = true;
  for (const Keeper& keeper : keepers_) {
    bool is = keeper.quota != nullptr && std::ranges::find(path, *keeper.quota) != path.end();
    if (keeper.room) {
      const Reaches::Shared shared = reaches_.SharedBy(keeper.reach, reach);
      is |= shared.gpus || (keeper.machines && shared.machines);
    }
    if (!is) continue;
    first_start = std::min(first_start, keeper.starts.value_or(base::kNever));
    all_start &= keeper.starts.has_value();
    before.push_back({keeper.place, keeper.job, first_start, all_start});
  }
  return before;
}

void Explainer::NameAhead(const Waiter& waiter, ReachId reach, Refusal& refusal) {
  const std::vector<Before>& all = InTheWayOf(waiter, reach);
  const auto end = std::ranges::lower_bound(all, waiter.place, {}, &Before::place);
  if (end == all.begin()) return;
  const Before& last = *(end - 1);
  refusal.ahead_count = static_cast<int>(end - all.begin());
  for (auto job = all.begin(); job != end && refusal.ahead.size() < 3; ++job) {
    refusal.ahead.push_back(job->job);
  }
  const queue::Spec* spec = desk_.queues.Find(waiter.ask.queue);
  const bool strict = spec != nullptr && spec->order == queue::Order::kStrict;
  if (refusal.constraint != Constraint::kOrder || !last.all_start || strict) return;
  refusal.constraint = Constraint::kReserved;
  refusal.id = "PND-Q021";
  refusal.until = last.first_start;
  const std::int64_t seconds =
      (last.first_start - now_).value / 1000;  // the rest of a second is left unused
  if (seconds > 0) refusal.help = "time=" + std::to_string(seconds);
}

}  // namespace pondage::plan
