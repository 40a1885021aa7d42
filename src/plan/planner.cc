#include "plan/planner.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/assert.h"

namespace pondage::plan {
namespace {

// Of machines, remembered: some hundred bytes each, and what each demand finds there.
constexpr std::size_t kMostStates = 200'000;

}  // namespace

Planner::Planner(const Policy& policy)
    : policy_(policy), line_(policy), lost_(ground_.states(), policy) {
  queues_.SetHalfLife(policy.half_life);
}

void Planner::Touch() {
  changed_ = true;
  explainer_.reset();
}

void Planner::MachineChanged() {
  rebuild_ = true;
  Touch();
}

void Planner::SeeNode(fleet::Node node) {
  const fleet::Place* known = fleet_.Find(node.name);
  if (known != nullptr && known->node == node && !known->forgotten) return;
  fleet_.See(std::move(node));
  MachineChanged();
}

void Planner::ForgetNode(std::string_view name) {
  fleet_.Forget(name);
  MachineChanged();
}

void Planner::SetOutages(std::vector<Outage> outages) {
  std::ranges::sort(outages);
  if (outages == outages_) return;
  outages_ = std::move(outages);
  Touch();
}

void Planner::PutQueue(queue::Spec spec) {
  queues_.Put(std::move(spec));
  Touch();
}

void Planner::RemoveQueue(std::string_view name) {
  queues_.Remove(name);
  Touch();
}

void Planner::Expect(const std::vector<Typical>& typical) {
  lost_.Expect(typical);
  MachineChanged();  // prices
}

void Planner::PutAsk(Ask ask) {
  const base::JobId job = ask.job;
  // One that was given what it asked may ask the same again: for the next member it lacks.
  const bool again = expected_.erase(job) > 0;
  const Waiter* known = line_.Find(job);
  if (known != nullptr && known->ask == ask && !again) return;
  const ShapeId shape = ground_.Number(ShapeOf(ask));
  const Waiter* before = line_.Find(job);
  if (before != nullptr && before->shape != shape) {
    reservations_.erase(job);
    restored_.erase(job);
  }
  line_.Put(std::move(ask), shape);
  fresh_.insert(job);
  Touch();
}

void Planner::DropAsk(base::JobId job) {
  if (line_.Find(job) == nullptr) return;
  line_.Drop(job);
  fresh_.erase(job);
  restored_.erase(job);
  const auto expected = expected_.find(job);
  const bool is_planned = expected != expected_.end() && expected->second == 0;
  const bool kept_something = reservations_.erase(job) > 0;
  if (!is_planned || kept_something) Touch();
  explainer_.reset();
}

void Planner::Bind(const Holding& holding, const fleet::Grant& grant, base::Instant now) {
  fleet_.Bind(holding.job, grant);
  if (!holding.queue.empty()) {
    queues_.Charge(holding.queue, holding.user, grant.Charge(), now);
  }
  Holding& held = holdings_[holding.job];
  held.job = holding.job;
  held.queue = holding.queue;
  held.user = holding.user;
  if (held.nodes.empty()) held.array = holding.array;
  if (held.nodes.empty() && !held.array.empty()) ++arrays_[held.array];
  held.ends_by = holding.ends_by;
  held.gpus += static_cast<int>(grant.gpus.size());
  if (std::ranges::find(held.nodes, grant.node) == held.nodes.end()) {
    held.nodes.push_back(grant.node);
  }
  if (!rebuild_) ground_.Refresh(*fleet_.Find(grant.node));
  const auto expected = expected_.find(holding.job);
  if (expected == expected_.end() || expected->second == 0) {
    Touch();
  } else {
    --expected->second;
  }
  explainer_.reset();
}

void Planner::Release(base::JobId job, const fleet::Grant& grant, base::Instant now) {
  const auto found = holdings_.find(job);
  REQUIRE(found != holdings_.end());
  Holding& held = found->second;
  fleet_.Release(job, grant);
  if (!held.queue.empty()) queues_.Refund(held.queue, held.user, grant.Charge(), now);
  held.gpus -= static_cast<int>(grant.gpus.size());
  const fleet::Place* place = fleet_.Find(grant.node);
  if (place == nullptr) {
    rebuild_ = true;  // it was forgotten, and this was its last
  } else if (!rebuild_) {
    ground_.Refresh(*place);
  }
  if (place == nullptr || !place->grants.contains(job)) std::erase(held.nodes, grant.node);
  if (held.nodes.empty()) {
    if (!held.array.empty() && --arrays_.at(held.array) == 0) arrays_.erase(held.array);
    holdings_.erase(found);
  }
  Touch();
}

void Planner::Restore(base::JobId job, Slot slot) {
  restored_.insert_or_assign(job, std::move(slot));
  slotted_.insert(job);
  Touch();
}

void Planner::Restore(const queue::Tree::UseOf& use) {
  queues_.Restore(use);
  Touch();
}

std::optional<Planner::Slot> Planner::Reserved(base::JobId job) const {
  const auto found = reservations_.find(job);
  if (found == reservations_.end()) return {};
  Slot slot{found->second.at, {}};
  for (const Seat& seat : found->second.seats) {
    slot.grants.push_back({ground_.name(seat.node), seat.pick.gpus, {}, {}, {seat.pick.share}});
  }
  return slot;
}

// Machines get other numbers: reservations are taken along by their names.
void Planner::Rebuild() {
  for (const auto& [job, reservation] : reservations_) restored_.try_emplace(job, *Reserved(job));
  reservations_.clear();
  if (ground_.states().count() > kMostStates) ground_.states().Clear();
  ground_.Rebuild(fleet_);
  lost_.Supply(ground_.all());
  rebuild_ = false;
}

void Planner::SeatRestored() {
  for (const auto& [job, slot] : restored_) {
    const Waiter* waiter = line_.Find(job);
    if (waiter == nullptr) continue;
    if (std::optional<Reservation> seated = Seated(*waiter, slot)) {
      reservations_.insert_or_assign(job, *std::move(seated));
    }
  }
  restored_.clear();
}

// What was read back may be anything.
std::optional<Reservation> Planner::Seated(const Waiter& waiter, const Slot& slot) {
  Reservation reservation{slot.at, {}, /*told=*/true};
  auto grant = slot.grants.begin();
  for (const NumberedPart& part : ground_.Of(waiter.shape).parts) {
    const fleet::Demand& asked = ground_.states().Asked(part.demand);
    const auto gpus = static_cast<std::size_t>(asked.IsPart() ? 1 : asked.gpus);
    for (int i = 0; i < part.count; ++i, ++grant) {
      if (grant == slot.grants.end() || grant->gpus.size() != gpus) return {};
      const std::optional<std::size_t> node = ground_.Find(grant->node);
      const bool ascending =
          std::ranges::adjacent_find(grant->gpus, std::greater_equal()) == grant->gpus.end();
      if (!node || !ascending || asked.IsPart() != (grant->share.value > 0)) return {};
      reservation.seats.push_back(
          {*node, part.demand, {grant->gpus, static_cast<int>(grant->share.value)}});
    }
  }
  if (grant != slot.grants.end()) return {};
  return reservation;
}

std::vector<base::JobId> Planner::TakeMoved() {
  std::vector<base::JobId> moved;
  if (!policy_.sticky) return moved;
  for (const base::JobId job : slotted_) {
    if (!reservations_.contains(job)) moved.push_back(job);
  }
  slotted_.clear();
  for (auto& [job, reservation] : reservations_) {
    slotted_.insert(slotted_.end(), job);
    if (!reservation.told) moved.push_back(job);
    reservation.told = true;
  }
  std::ranges::sort(moved);
  return moved;
}

Desk Planner::DeskOf() {
  return {policy_,   queues_,       ground_, line_,    lost_,
          holdings_, reservations_, fresh_,  outages_, arrays_};
}

Plan Planner::Cycle(base::Instant now) {
  if (!HasNews(now)) return {.wake = wake_};
  explainer_.reset();
  if (rebuild_ || ground_.states().count() > kMostStates) Rebuild();
  SeatRestored();
  now_ = now;
  ++walks_;
  if (!policy_.sticky) reservations_.clear();
  Plan plan = plan::Cycle(DeskOf(), now).Run();
  for (const auto& [job, waiter] : line_.waiters()) {
    if (waiter.cohort != nullptr || !fresh_.contains(job)) continue;
    plan.wait.push_back({.job = job,
                         .constraint = waiter.ask.held   ? Constraint::kHeld
                                       : waiter.ask.lack ? Constraint::kAbsent
                                                         : Constraint::kIncomplete,
                         .need = ground_.Of(waiter.shape).gpus});
  }
  fresh_.clear();
  expected_.clear();
  for (const Placement& placement : plan.start) {
    expected_[placement.job] = placement.grants.size();
  }
  plan.moved = TakeMoved();
  changed_ = false;
  wake_ = plan.wake;
  return plan;
}

Planner::Preview Planner::Try(Ask ask, base::Instant now) {
  if (rebuild_) Rebuild();
  SeatRestored();
  const base::JobId job = ask.job;
  const Waiter* known = line_.Find(job);
  const std::optional<Ask> before = known == nullptr ? std::nullopt : std::optional(known->ask);
  const std::map<base::JobId, Reservation> reservations = reservations_;
  line_.Put(ask, ground_.Number(ShapeOf(ask)));
  Desk desk = DeskOf();
  desk.quiet = true;
  const Plan plan = plan::Cycle(desk, now).Run();
  Preview preview;
  const auto start = std::ranges::find(plan.start, job, &Placement::job);
  if (start != plan.start.end()) {
    preview.start = *start;
  } else {
    preview.refusal = Explainer(desk, now).Explain(*line_.Find(job));
  }
  line_.Drop(job);
  if (before) line_.Put(*before, ground_.Number(ShapeOf(*before)));
  reservations_ = reservations;
  Touch();  // what the cohorts know of the last cycle is this trial's
  return preview;
}

void Planner::Forget() {
  for (auto& [key, bucket] : line_.buckets()) {
    for (auto& [cohort_key, cohort] : bucket.cohorts) cohort.said.reset();
  }
  reservations_.clear();
  MachineChanged();
}

Refusal Planner::Explain(base::JobId job) {
  const Waiter* waiter = line_.Find(job);
  REQUIRE(waiter != nullptr);
  REQUIRE(!rebuild_);
  if (!explainer_) explainer_.emplace(DeskOf(), now_);
  return explainer_->Explain(*waiter);
}

std::vector<base::JobId> Planner::InOrder() {
  std::vector<base::JobId> order;
  for (const Waiter* waiter : line_.InOrder()) order.push_back(waiter->ask.job);
  std::vector<std::pair<base::Instant, base::JobId>> others;
  for (const auto& [job, waiter] : line_.waiters()) {
    if (waiter.cohort == nullptr) others.emplace_back(waiter.ask.arrived, job);
  }
  std::ranges::sort(others);
  for (const auto& [arrived, job] : others) order.push_back(job);
  return order;
}

Plan MakePlan(const Snapshot& snapshot, base::Instant now, const Policy& policy) {
  Planner planner(policy);
  std::map<base::JobId, const Holding*> holdings;
  for (const Holding& holding : snapshot.holdings) holdings[holding.job] = &holding;
  for (const queue::Spec* spec : snapshot.queues.All()) planner.PutQueue(*spec);
  for (const auto& [name, place] : snapshot.fleet.places()) planner.SeeNode(place.node);
  for (const auto& [name, place] : snapshot.fleet.places()) {
    for (const auto& [job, grants] : place.grants) {
      const auto holding = holdings.find(job);
      const Holding unknown{.job = job};
      for (const fleet::Grant& grant : grants) {
        planner.Bind(holding == holdings.end() ? unknown : *holding->second, grant, now);
      }
    }
  }
  std::set<base::JobId> asked;
  for (const Ask& ask : snapshot.asks) {
    REQUIRE(asked.insert(ask.job).second);
    planner.PutAsk(ask);
  }
  Plan plan = planner.Cycle(now);
  const std::vector<base::JobId> order = planner.InOrder();
  std::set<base::JobId> started;
  for (const Placement& placement : plan.start) {
    const Ask& ask = planner.waiters().at(placement.job).ask;
    Holding holding{.job = ask.job, .queue = ask.queue, .gpus = 0, .ends_by = {}, .user = ask.user};
    holding.array = ask.array;
    if (placement.limit) holding.ends_by = now + *placement.limit;
    for (const fleet::Grant& grant : placement.grants) planner.Bind(holding, grant, now);
    planner.DropAsk(placement.job);
    started.insert(placement.job);
  }
  plan.wait.clear();
  for (const base::JobId job : order) {
    if (!started.contains(job)) plan.wait.push_back(planner.Explain(job));
  }
  return plan;
}

}  // namespace pondage::plan
