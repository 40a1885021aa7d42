#include "plan/refuse.h"

#include <algorithm>

#include "base/assert.h"
#include "plan/help.h"
#include "plan/measure.h"
#include "plan/place.h"

namespace pondage::plan {
namespace {

Refusal Of(const Waiting& waiting, Constraint constraint, const char* id) {
  Refusal refusal;
  refusal.job = waiting.ask->job;
  refusal.constraint = constraint;
  refusal.id = id;
  refusal.need = TotalGpus(waiting.shape);
  return refusal;
}

void WriteQuota(const queue::Over& over, Refusal& refusal) {
  refusal.resource = "quota";
  refusal.where = over.queue;
  refusal.used = over.used.value / 1000;    // whole GPUs are charged: nothing is lost
  refusal.limit = over.limit.value / 1000;  // a limit's fraction serves no whole GPU
}

bool Overlap(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

}  // namespace

Explainer::Explainer(const Snapshot& snapshot, const queue::Tree& queues, Rooms& left,
                     base::Instant now)
    : snapshot_(snapshot),
      queues_(queues),
      left_(left),
      healthy_(snapshot.fleet, View::kEmptyHealthy),
      all_(snapshot.fleet, View::kEmptyAll),
      now_(now) {
  for (const Holding& holding : snapshot.holdings) holdings_[holding.job] = &holding;
}

Refusal Explainer::Explain(const Waiting& waiting) {
  ++place_;
  if (std::optional<Refusal> unready = Unready(waiting)) return *unready;
  const Known& known = OfShape(waiting);
  Refusal refusal = known.refusal;
  refusal.job = waiting.ask->job;
  if (refusal.constraint == Constraint::kNever || refusal.constraint == Constraint::kUnhealthy) {
    return refusal;  // it waits for no other job, and no other for it
  }
  if (const std::optional<Refusal> over = OverLimit(waiting)) refusal = *over;
  refusal.proven = waiting.keeps.proven;
  if (refusal.constraint != Constraint::kLimit) refusal.start_latest = waiting.keeps.start_latest;
  NameAhead(waiting, known.pool, refusal);
  Remember(waiting, known.pool);
  return refusal;
}

// By what it kept when it was offered: since then the limit of its queue may have filled up, too.
void Explainer::Remember(const Waiting& waiting, const Pool& pool) {
  const Keeps& keeps = waiting.keeps;
  if (!keeps.level.empty()) for_quota_[keeps.level].push_back({place_, waiting.ask->job, {}});
  if (!keeps.room) return;
  Pool kept = pool;
  if (!keeps.whole) kept.machines.assign(kept.machines.size(), false);
  for_room_[kept].push_back({place_, waiting.ask->job, keeps.start_latest});
}

std::optional<Refusal> Explainer::Unready(const Waiting& waiting) const {
  const Ask& ask = *waiting.ask;
  if (ask.held) {
    Refusal held = Of(waiting, Constraint::kHeld, ask.not_before ? "PND-Q004" : "PND-Q002");
    held.until = ask.not_before;
    return held;
  }
  if (queues_.Find(ask.queue) == nullptr) {
    Refusal unknown = Of(waiting, Constraint::kNoQueue, "PND-Q001");
    unknown.where = ask.queue;
    return unknown;
  }
  if (const std::optional<std::string> level = queues_.HeldAt(ask.queue)) {
    Refusal held = Of(waiting, Constraint::kHeld, "PND-Q003");
    held.where = *level;
    return held;
  }
  if (ask.missing > 0) {
    Refusal incomplete = Of(waiting, Constraint::kIncomplete, "PND-Q005");
    incomplete.resource = "members";
    incomplete.have = MemberCount(waiting.shape);
    incomplete.need = incomplete.have + ask.missing;
    return incomplete;
  }
  if (MemberCount(waiting.shape) > kMostMembers) {
    Refusal never = Of(waiting, Constraint::kNever, "PND-Q019");
    never.resource = "members";
    never.need = MemberCount(waiting.shape);
    never.have = kMostMembers;
    return never;
  }
  if (const auto over = queues_.NeverFits(ask.queue, ChargeOf(waiting.shape))) {
    Refusal never = Of(waiting, Constraint::kNever, "PND-Q011");
    WriteQuota(*over, never);
    never.have = never.limit;
    if (never.limit > 0) never.help = "total=" + std::to_string(never.limit);
    return never;
  }
  return {};
}

std::optional<Refusal> Explainer::OverLimit(const Waiting& waiting) const {
  const auto over = queues_.WouldExceed(waiting.ask->queue, ChargeOf(waiting.shape));
  if (!over) return {};
  Refusal refusal = Of(waiting, Constraint::kLimit, "PND-Q006");
  WriteQuota(*over, refusal);
  refusal.have = std::max<std::int64_t>(0, refusal.limit - refusal.used);
  std::map<base::JobId, std::int64_t> amounts;
  for (const Holding& holding : snapshot_.holdings) {
    const auto path = queues_.PathUp(holding.queue);
    if (std::ranges::find(path, refusal.where) != path.end()) amounts[holding.job] = holding.gpus;
  }
  NameHolders(amounts, refusal);
  if (refusal.have > 0) refusal.help = "total=" + std::to_string(refusal.have);
  return refusal;
}

const Explainer::Known& Explainer::OfShape(const Waiting& waiting) {
  const auto known = of_shape_.find(waiting.shape);
  if (known != of_shape_.end()) return known->second;
  return of_shape_.emplace(waiting.shape, Known{OfFleet(waiting), PoolOf(waiting.shape)})
      .first->second;
}

Refusal Explainer::OfFleet(const Waiting& waiting) {
  if (!Fits(all_, waiting.shape)) return Never(waiting);
  if (!Fits(healthy_, waiting.shape)) return Unhealthy(waiting);
  if (Fits(left_, waiting.shape)) return Of(waiting, Constraint::kOrder, "PND-Q009");
  return NoRoom(waiting);
}

Refusal Explainer::Never(const Waiting& waiting) {
  const Want want = WhatBinds(all_, waiting.shape, true);
  Refusal never = Of(waiting, Constraint::kNever, "");
  Measure(all_, waiting.shape, want, never);
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
  never.help = CheapestChange(*waiting.ask, all_);
  return never;
}

Refusal Explainer::Unhealthy(const Waiting& waiting) const {
  Refusal refusal = Of(waiting, Constraint::kUnhealthy, "PND-Q010");
  Measure(healthy_, waiting.shape, Want::kGpu, refusal);
  refusal.where.clear();
  for (const Room& room : all_.all()) {
    const fleet::Node& node = room.place->node;
    const bool useful = std::ranges::any_of(
        waiting.shape.parts, [&](const Part& part) { return fleet::CouldFit(node, part.demand); });
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

Refusal Explainer::NoRoom(const Waiting& waiting) {
  const Want want = WhatBinds(left_, waiting.shape, false);
  Refusal refusal = Of(waiting, Constraint::kBusy, "");
  Measure(left_, waiting.shape, want, refusal);
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
  refusal.help = CheapestChange(*waiting.ask, left_);
  std::map<base::JobId, std::int64_t> amounts;
  for (const Room& room : left_.all()) {
    AddHolders(room, waiting.shape, refusal.resource, amounts);
  }
  NameHolders(amounts, refusal);
  return refusal;
}

Explainer::Pool Explainer::PoolOf(const Shape& shape) const {
  Pool pool;
  for (const Room& room : all_.all()) {
    const fleet::Node& node = room.place->node;
    std::vector<const fleet::Demand*> possible;
    for (const Part& part : shape.parts) {
      if (fleet::CouldFit(node, part.demand)) possible.push_back(&part.demand);
    }
    pool.machines.push_back(!possible.empty());
    for (const fleet::Gpu& gpu : node.gpus) {
      pool.gpus.push_back(std::ranges::any_of(possible, [&](const fleet::Demand* demand) {
        return demand->gpus > 0 && fleet::IsOfType(gpu, *demand);
      }));
    }
  }
  return pool;
}

void Explainer::NameHolders(const std::map<base::JobId, std::int64_t>& amounts,
                            Refusal& refusal) const {
  std::vector<std::pair<std::int64_t, base::JobId>> most;
  for (const auto& [job, amount] : amounts) {
    if (amount == 0) continue;
    most.emplace_back(-amount, job);
    const auto holding = holdings_.find(job);
    if (holding == holdings_.end() || !holding->second->ends_by) continue;
    refusal.until = std::min(refusal.until.value_or(base::kNever), *holding->second->ends_by);
  }
  std::ranges::sort(most);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, most.size()); ++i) {
    refusal.holders.push_back(most[i].second);
  }
}

std::vector<const std::vector<Explainer::Waiter>*> Explainer::Ahead(const Waiting& waiting,
                                                                    const Pool& pool) const {
  std::vector<const std::vector<Waiter>*> ahead;
  for (const auto& [kept, waiters] : for_room_) {
    if (Overlap(kept.gpus, pool.gpus) || Overlap(kept.machines, pool.machines)) {
      ahead.push_back(&waiters);
    }
  }
  if (TotalGpus(waiting.shape) == 0) return ahead;
  for (const std::string_view level : queues_.PathUp(waiting.ask->queue)) {
    const auto waiters = for_quota_.find(std::string(level));
    if (waiters != for_quota_.end()) ahead.push_back(&waiters->second);
  }
  return ahead;
}

void Explainer::NameAhead(const Waiting& waiting, const Pool& pool, Refusal& refusal) const {
  std::vector<std::pair<std::size_t, base::JobId>> first;
  base::Instant starts = base::kNever;
  bool foreseeable = true;
  for (const std::vector<Waiter>* waiters : Ahead(waiting, pool)) {
    refusal.ahead_count += static_cast<int>(waiters->size());
    for (std::size_t i = 0; i < std::min<std::size_t>(3, waiters->size()); ++i) {
      first.emplace_back((*waiters)[i].place, (*waiters)[i].job);
    }
    // Reservations begin in the order of the line, and whoever has none comes last.
    foreseeable &= waiters->back().start_latest.has_value();
    starts = std::min(starts, waiters->front().start_latest.value_or(base::kNever));
  }
  std::ranges::sort(first);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, first.size()); ++i) {
    refusal.ahead.push_back(first[i].second);
  }
  if (refusal.constraint != Constraint::kOrder || first.empty() || !foreseeable) return;
  refusal.constraint = Constraint::kReserved;
  refusal.id = "PND-Q021";
  refusal.until = starts;
  const std::int64_t seconds = (starts - now_).value / 1000;  // the rest of a second is left unused
  if (seconds > 0) refusal.help = "time=" + std::to_string(seconds);
}

}  // namespace pondage::plan
