#include "plan/place.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"

namespace pondage::plan {
namespace {

// Rooms looked at by the search for one mixed gang. Enough for every gang of up to five demands on
// a few machines; a bound for the rest.
constexpr std::int64_t kStepBudget = 200'000;

struct Taken {
  std::size_t room = 0;
  fleet::Grant grant;
};
using Trail = std::vector<Taken>;

void Undo(Rooms& rooms, Trail& trail, std::size_t keep) {
  while (trail.size() > keep) {
    rooms.Give(trail.back().room, trail.back().grant);
    trail.pop_back();
  }
}

// Where the next members of a part go: the room with least left over among those that take all of
// them, else the one that takes most. So a gang touches few machines and large blocks stay whole.
std::optional<std::size_t> BestRoom(const Rooms& rooms, const std::vector<int>& capacity,
                                    int wanted) {
  std::optional<std::size_t> best;
  const auto rank = [&](std::size_t i) {
    const bool takes_all = capacity[i] >= wanted;
    return std::tuple(!takes_all, takes_all ? 0 : -capacity[i], rooms.all()[i].free.size(), i);
  };
  for (std::size_t i = 0; i < capacity.size(); ++i) {
    if (capacity[i] > 0 && (!best || rank(i) < rank(*best))) best = i;
  }
  return best;
}

bool PlacePart(Rooms& rooms, const Part& part, Trail& trail) {
  std::vector<int> capacity(rooms.all().size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < capacity.size(); ++i) {
    capacity[i] = rooms.Capacity(i, part.demand, static_cast<int>(part.count));
    sum += capacity[i];
  }
  if (sum < part.count) return false;
  for (int wanted = static_cast<int>(part.count); wanted > 0;) {
    const std::optional<std::size_t> room = BestRoom(rooms, capacity, wanted);
    PROMISE(room.has_value());
    const int here = std::min(capacity[*room], wanted);
    for (int i = 0; i < here; ++i) trail.push_back({*room, rooms.Take(*room, part.demand)});
    capacity[*room] = 0;
    wanted -= here;
  }
  return true;
}

bool PlaceGreedily(Rooms& rooms, const Shape& shape, Trail& trail) {
  if (MemberCount(shape) > kMostMembers) return false;
  for (const Part& part : shape.parts) {
    if (!PlacePart(rooms, part, trail)) {
      Undo(rooms, trail, 0);
      return false;
    }
  }
  return true;
}

// Depth first over members; equal members stand in rooms of rising index, so that no arrangement is
// tried twice under another name. Returns false when the budget ended before the answer.
bool Search(Rooms& rooms, const Shape& shape, Trail& trail, bool& found) {
  std::vector<std::size_t> part_of;  // of each member
  for (std::size_t i = 0; i < shape.parts.size(); ++i) {
    part_of.insert(part_of.end(), static_cast<std::size_t>(shape.parts[i].count), i);
  }
  std::size_t from = 0;  // first room to look at for the next member
  for (std::int64_t steps = 0; trail.size() < part_of.size();) {
    const std::size_t part = part_of[trail.size()];
    std::size_t room = from;
    for (; room < rooms.all().size(); ++room) {
      if (++steps > kStepBudget) {
        Undo(rooms, trail, 0);
        return false;
      }
      if (rooms.Capacity(room, shape.parts[part].demand, 1) > 0) break;
    }
    if (room < rooms.all().size()) {
      trail.push_back({room, rooms.Take(room, shape.parts[part].demand)});
      const bool same_next = trail.size() < part_of.size() && part_of[trail.size()] == part;
      from = same_next ? room : 0;
    } else if (trail.empty()) {
      return true;
    } else {
      from = trail.back().room + 1;
      Undo(rooms, trail, trail.size() - 1);
    }
  }
  found = true;
  return true;
}

}  // namespace

Found PlaceGang(Rooms& rooms, const Shape& shape) {
  Trail trail;
  Found found;
  bool placed = PlaceGreedily(rooms, shape, trail);
  const bool mixed = shape.parts.size() > 1 && MemberCount(shape) <= kMostMembers;
  if (!placed && mixed) found.proven = Search(rooms, shape, trail, placed);
  if (!placed) return found;
  found.grants.emplace();
  for (Taken& taken : trail) found.grants->push_back(std::move(taken.grant));
  return found;
}

bool Fits(Rooms& rooms, const Shape& shape) {
  Trail trail;
  bool placed = PlaceGreedily(rooms, shape, trail);
  const bool mixed = shape.parts.size() > 1 && MemberCount(shape) <= kMostMembers;
  if (!placed && mixed) Search(rooms, shape, trail, placed);
  Undo(rooms, trail, 0);
  return placed;
}

}  // namespace pondage::plan
