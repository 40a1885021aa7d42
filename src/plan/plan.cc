#include "plan/plan.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "plan/calendar.h"
#include "plan/order.h"
#include "plan/place.h"
#include "plan/refuse.h"
#include "plan/rooms.h"

namespace pondage::plan {
namespace {

std::optional<base::Instant> EndOf(const Ask& ask, base::Instant now) {
  return ask.limit ? std::optional(now + *ask.limit) : std::nullopt;
}

// So many gangs at the head of the line get a reservation; later ones keep nothing from each other.
constexpr int kMostReservations = 64;

// One walk through the line: starts who may start, keeps for the others what they wait for.
class Walk {
 public:
  Walk(const Snapshot& snapshot, base::Instant now)
      : now_(now),
        rooms_(snapshot.fleet, View::kFree),
        healthy_(snapshot.fleet, View::kEmptyHealthy),
        queues_(snapshot.queues),
        calendar_(snapshot, now) {}

  // The placement when it starts; otherwise what it keeps is written into `waiting`.
  std::optional<Placement> Offer(Waiting& waiting);

  Rooms& rooms() { return rooms_; }
  const queue::Tree& queues() const { return queues_; }

 private:
  bool IsReady(const Waiting& waiting) const;
  bool PassesLimits(Waiting& waiting);
  bool CouldStart(const Shape& shape);
  Found Place(const Waiting& waiting);
  Keeps KeepFor(const Waiting& waiting);
  bool KeepForUnknownTime(const Shape& shape);

  base::Instant now_;
  Rooms rooms_;
  Rooms healthy_;
  queue::Tree queues_;
  std::map<Shape, bool> could_start_;
  // Whether the search was complete. Room only shrinks: once failed, failed for this plan.
  std::map<std::pair<Shape, std::optional<base::Millis>>, bool> failed_;
  std::set<std::string, std::less<>> full_levels_;  // an earlier gang waits for room under them
  Calendar calendar_;
  int reservations_ = 0;
  bool foreseeable_ = true;             // every gang so far that waits for room has a reservation
  std::map<Shape, bool> kept_unknown_;  // for these shapes; whole machines or not
};

std::optional<Placement> Walk::Offer(Waiting& waiting) {
  if (!IsReady(waiting) || !PassesLimits(waiting)) return {};
  const Ask& ask = *waiting.ask;
  const auto [failed, is_new] = failed_.try_emplace({waiting.shape, ask.limit}, true);
  if (is_new) {
    Found found = Place(waiting);
    if (found.grants) {
      failed_.erase(failed);
      rooms_.Note(ask.job, *found.grants);
      queues_.Charge(ask.queue, ChargeOf(waiting.shape));
      calendar_.Start(*found.grants, EndOf(ask, now_));
      return Placement{ask.job, InMemberOrder(ask.groups, waiting.shape, *std::move(found.grants))};
    }
    failed->second = found.proven;
  }
  waiting.keeps = KeepFor(waiting);
  waiting.keeps.proven = failed->second;
  return {};
}

// In what nobody keeps; a gang with a limit also in what is kept for later than its end.
Found Walk::Place(const Waiting& waiting) {
  Found found = PlaceGang(rooms_, waiting.shape);
  const std::optional<base::Instant> ends_by = EndOf(*waiting.ask, now_);
  if (found.grants || !ends_by || reservations_ == 0) return found;
  rooms_.Lend(*ends_by);
  Found lent = PlaceGang(rooms_, waiting.shape);
  rooms_.Recall();
  return lent;
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

Keeps Walk::KeepFor(const Waiting& waiting) {
  Keeps keeps;
  if (!CouldStart(waiting.shape)) return keeps;
  keeps.room = true;
  if (foreseeable_ && reservations_ == kMostReservations) return keeps;
  if (foreseeable_) {
    if (const auto reservation = calendar_.Reserve(waiting.shape, waiting.ask->limit)) {
      ++reservations_;
      keeps.start_latest = reservation->at;
      keeps.whole = rooms_.KeepUntil(reservation->at, reservation->grants, calendar_.rooms());
      return keeps;
    }
    foreseeable_ = false;
  }
  keeps.whole = KeepForUnknownTime(waiting.shape);
  return keeps;
}

// True when whole machines are kept, since cores or memory are short, too.
bool Walk::KeepForUnknownTime(const Shape& shape) {
  const auto [kept, is_new] = kept_unknown_.try_emplace(shape, false);
  if (!is_new) return kept->second;
  Shape without_gpus = shape;
  for (Part& part : without_gpus.parts) part.demand.gpus = 0;
  kept->second = !Fits(rooms_, without_gpus);
  for (const Part& part : shape.parts) rooms_.Keep(part.demand, kept->second);
  return kept->second;
}

}  // namespace

Plan MakePlan(const Snapshot& snapshot, base::Instant now) {
  Plan plan;
  Walk walk(snapshot, now);
  std::vector<Waiting> waiting;
  for (Waiting& next : InOrder(snapshot.asks, snapshot.queues)) {
    if (std::optional<Placement> placement = walk.Offer(next)) {
      plan.start.push_back(*std::move(placement));
    } else {
      waiting.push_back(std::move(next));
    }
  }
  walk.rooms().Open();
  Explainer explainer(snapshot, walk.queues(), walk.rooms(), now);
  for (const Waiting& next : waiting) plan.wait.push_back(explainer.Explain(next));
  return plan;
}

}  // namespace pondage::plan
