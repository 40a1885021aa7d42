#include "plan/plan.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "plan/order.h"
#include "plan/place.h"
#include "plan/refuse.h"
#include "plan/rooms.h"

namespace pondage::plan {
namespace {

// One walk through the line: starts who may start, keeps for the others what they wait for.
class Walk {
 public:
  explicit Walk(const Snapshot& snapshot)
      : rooms_(snapshot.fleet, View::kFree),
        healthy_(snapshot.fleet, View::kEmptyHealthy),
        queues_(snapshot.queues) {}

  // True when it started.
  bool Offer(const Waiting& waiting, std::vector<Placement>& start);

  // What the gang keeps from later ones.
  bool KeepsWhole(const Shape& shape) const { return Find(shape).whole; }
  bool IsProven(const Shape& shape) const { return Find(shape).proven; }

  Rooms& rooms() { return rooms_; }
  const queue::Tree& queues() const { return queues_; }

 private:
  struct Failed {
    bool whole = false;
    bool proven = true;
  };
  Failed Find(const Shape& shape) const {
    const auto found = failed_.find(shape);
    return found == failed_.end() ? Failed{} : found->second;
  }
  bool MayStart(const Waiting& waiting);
  void KeepFor(const Shape& shape, bool proven);

  Rooms rooms_;
  Rooms healthy_;
  queue::Tree queues_;
  std::map<Shape, Failed> failed_;  // room only shrinks: once failed, failed for this plan
  std::set<std::string, std::less<>>
      full_levels_;  // an earlier gang waits for room under their limit
};

bool Walk::MayStart(const Waiting& waiting) {
  const Ask& ask = *waiting.ask;
  if (ask.held || ask.missing > 0 || queues_.Find(ask.queue) == nullptr) return false;
  if (queues_.HeldAt(ask.queue)) return false;
  const base::MilliGpu charge = ChargeOf(waiting.shape);
  if (charge.value == 0) return true;
  if (queues_.NeverFits(ask.queue, charge)) return false;
  for (const std::string_view level : queues_.PathUp(ask.queue)) {
    if (full_levels_.contains(level)) return false;
  }
  return true;
}

bool Walk::Offer(const Waiting& waiting, std::vector<Placement>& start) {
  const Ask& ask = *waiting.ask;
  if (!MayStart(waiting)) return false;
  if (const auto over = queues_.WouldExceed(ask.queue, ChargeOf(waiting.shape))) {
    full_levels_.insert(over->queue);
    return false;
  }
  if (failed_.contains(waiting.shape)) return false;
  Found found = PlaceGang(rooms_, waiting.shape);
  if (!found.grants) {
    KeepFor(waiting.shape, found.proven);
    return false;
  }
  rooms_.Note(ask.job, *found.grants);
  queues_.Charge(ask.queue, ChargeOf(waiting.shape));
  start.push_back({ask.job, InMemberOrder(ask.groups, waiting.shape, std::move(*found.grants))});
  return true;
}

void Walk::KeepFor(const Shape& shape, bool proven) {
  if (!Fits(healthy_, shape)) {  // nothing that ends will make it start: it holds nobody back
    failed_[shape] = {false, proven};
    return;
  }
  Shape without_gpus = shape;
  for (Part& part : without_gpus.parts) part.demand.gpus = 0;
  const bool whole = !Fits(rooms_, without_gpus);  // it waits for cores or memory too
  for (const Part& part : shape.parts) rooms_.Keep(part.demand, whole);
  failed_[shape] = {whole, proven};
}

}  // namespace

Plan MakePlan(const Snapshot& snapshot, base::Instant now) {
  static_cast<void>(now);
  Plan plan;
  Walk walk(snapshot);
  std::vector<Waiting> waiting;
  for (Waiting& next : InOrder(snapshot.asks, snapshot.queues)) {
    if (!walk.Offer(next, plan.start)) waiting.push_back(std::move(next));
  }
  walk.rooms().Open();
  Explainer explainer(snapshot, walk.queues(), walk.rooms());
  for (const Waiting& next : waiting) {
    plan.wait.push_back(
        explainer.Explain(next, walk.KeepsWhole(next.shape), walk.IsProven(next.shape)));
  }
  return plan;
}

}  // namespace pondage::plan
