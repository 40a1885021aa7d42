#include "plan/plan.h"

#include <map>
#include <optional>
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

  // The placement when it starts; otherwise what it keeps is written into `waiting`.
  std::optional<Placement> Offer(Waiting& waiting);

  Rooms& rooms() { return rooms_; }
  const queue::Tree& queues() const { return queues_; }

 private:
  bool IsReady(const Waiting& waiting) const;
  bool PassesLimits(Waiting& waiting);
  bool CouldStart(const Shape& shape);
  Keeps KeepFor(const Shape& shape, bool proven);

  Rooms rooms_;
  Rooms healthy_;
  queue::Tree queues_;
  std::map<Shape, bool> could_start_;
  std::map<Shape, Keeps> failed_;  // room only shrinks: once failed, failed for this plan
  std::set<std::string, std::less<>> full_levels_;  // an earlier gang waits for room under them
};

std::optional<Placement> Walk::Offer(Waiting& waiting) {
  if (!IsReady(waiting) || !PassesLimits(waiting)) return {};
  const auto failed = failed_.find(waiting.shape);
  if (failed != failed_.end()) {
    waiting.keeps = failed->second;
    return {};
  }
  Found found = PlaceGang(rooms_, waiting.shape);
  if (!found.grants) {
    waiting.keeps = failed_[waiting.shape] = KeepFor(waiting.shape, found.proven);
    return {};
  }
  const Ask& ask = *waiting.ask;
  rooms_.Note(ask.job, *found.grants);
  queues_.Charge(ask.queue, ChargeOf(waiting.shape));
  return Placement{ask.job, InMemberOrder(ask.groups, waiting.shape, *std::move(found.grants))};
}

bool Walk::IsReady(const Waiting& waiting) const {
  const Ask& ask = *waiting.ask;
  return !ask.held && ask.missing == 0 && queues_.Find(ask.queue) != nullptr &&
         !queues_.HeldAt(ask.queue) && !queues_.NeverFits(ask.queue, ChargeOf(waiting.shape));
}

bool Walk::PassesLimits(Waiting& waiting) {
  const base::MilliGpu charge = ChargeOf(waiting.shape);
  if (charge.value == 0) return true;
  for (const std::string_view level : queues_.PathUp(waiting.ask->queue)) {
    if (full_levels_.contains(level)) {
      waiting.keeps.level = level;
      return false;
    }
  }
  const std::optional<queue::Over> over = queues_.WouldExceed(waiting.ask->queue, charge);
  if (!over) return true;
  if (CouldStart(waiting.shape)) {
    full_levels_.insert(over->queue);
    waiting.keeps.level = over->queue;
  }
  return false;
}

// Whether it would, if everything that runs had ended. A gang that could not holds nobody back.
bool Walk::CouldStart(const Shape& shape) {
  const auto known = could_start_.find(shape);
  if (known != could_start_.end()) return known->second;
  return could_start_.emplace(shape, Fits(healthy_, shape)).first->second;
}

Keeps Walk::KeepFor(const Shape& shape, bool proven) {
  Keeps keeps;
  keeps.proven = proven;
  if (!CouldStart(shape)) return keeps;
  Shape without_gpus = shape;
  for (Part& part : without_gpus.parts) part.demand.gpus = 0;
  keeps.room = true;
  keeps.whole = !Fits(rooms_, without_gpus);
  for (const Part& part : shape.parts) rooms_.Keep(part.demand, keeps.whole);
  return keeps;
}

}  // namespace

Plan MakePlan(const Snapshot& snapshot, base::Instant now) {
  static_cast<void>(now);
  Plan plan;
  Walk walk(snapshot);
  std::vector<Waiting> waiting;
  for (Waiting& next : InOrder(snapshot.asks, snapshot.queues)) {
    if (std::optional<Placement> placement = walk.Offer(next)) {
      plan.start.push_back(*std::move(placement));
    } else {
      waiting.push_back(std::move(next));
    }
  }
  walk.rooms().Open();
  Explainer explainer(snapshot, walk.queues(), walk.rooms());
  for (const Waiting& next : waiting) plan.wait.push_back(explainer.Explain(next));
  return plan;
}

}  // namespace pondage::plan
