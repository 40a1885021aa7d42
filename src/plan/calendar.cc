#include "plan/calendar.h"

#include <algorithm>
#include <utility>

#include "plan/place.h"

namespace pondage::plan {
namespace {

// Machines looked at for all reservations of one plan: some ten milliseconds.
constexpr std::int64_t kLooks = 1'000'000;
// A mixed gang may need a search at each instant.
constexpr std::int64_t kLooksOfSearch = 20'000;

}  // namespace

Calendar::Calendar(const Snapshot& snapshot, base::Instant now)
    : at_(now), rooms_(snapshot.fleet, View::kFree), looks_left_(kLooks) {
  std::map<base::JobId, base::Instant> ends;
  for (const Holding& holding : snapshot.holdings) {
    // One that is over its time is being stopped: it goes next.
    if (holding.ends_by) ends[holding.job] = std::max(*holding.ends_by, now);
  }
  std::map<base::JobId, std::vector<fleet::Grant>> grants;
  for (const auto& [name, place] : snapshot.fleet.places()) {
    for (const auto& [job, held] : place.grants) {
      if (ends.contains(job)) grants[job].insert(grants[job].end(), held.begin(), held.end());
    }
  }
  for (auto& [job, held] : grants) ends_.emplace(ends[job], std::move(held));
}

void Calendar::Start(const std::vector<fleet::Grant>& grants,
                     std::optional<base::Instant> ends_by) {
  if (ends_by && *ends_by <= at_) return;  // gone before the next reservation begins
  for (const fleet::Grant& grant : grants) rooms_.TakeExactly(grant);
  if (ends_by) ends_.emplace(*ends_by, grants);
}

std::optional<Reservation> Calendar::Reserve(const Shape& shape,
                                             std::optional<base::Millis> limit) {
  Rooms rooms = rooms_;
  base::Instant at = at_;
  auto next = ends_.begin();
  for (;;) {
    looks_left_ -= static_cast<std::int64_t>(rooms.all().size()) + MemberCount(shape) +
                   (shape.parts.size() > 1 ? kLooksOfSearch : 0);
    if (looks_left_ < 0) return {};
    Found found = PlaceGang(rooms, shape);
    if (found.grants) {
      at_ = at;
      rooms_ = std::move(rooms);
      ends_.erase(ends_.begin(), next);
      if (limit) ends_.emplace(at + *limit, *found.grants);
      return Reservation{at, *std::move(found.grants)};
    }
    if (next == ends_.end()) return {};
    for (at = next->first; next != ends_.end() && next->first == at; ++next) {
      for (const fleet::Grant& grant : next->second) rooms.Free(grant);
    }
  }
}

}  // namespace pondage::plan
