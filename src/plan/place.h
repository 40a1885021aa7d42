// The search for a placement: a whole gang, or nothing and no trace.
//
// Pure. Complete for gangs of equal members; a mixed gang that greedy placing cannot serve is
// searched for a fixed number of steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/rooms.h"
#include "plan/shape.h"

namespace pondage::plan {

struct Found {
  std::optional<std::vector<fleet::Grant>> grants;  // in the order of the shape's parts; taken
  bool proven = true;  // false: no placement known, but the search was cut
};

// On success the grants are taken from `rooms`; otherwise `rooms` is as it was.
Found PlaceGang(Rooms& rooms, const Shape& shape);

// Whether it would fit. `rooms` is left as it was.
bool Fits(Rooms& rooms, const Shape& shape);

}  // namespace pondage::plan
