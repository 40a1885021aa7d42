// When waiting gangs will start at the latest, if everybody uses his whole time.
//
// Pure; made once a plan, from the hard limits of what runs. Reservations are made in the order of
// the line and never begin before an earlier one. A job without a limit holds what it has for ever
// here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "plan/plan.h"
#include "plan/rooms.h"

namespace pondage::plan {

struct Reservation {
  base::Instant at;
  std::vector<fleet::Grant> grants;
};

class Calendar {
 public:
  Calendar(const Snapshot& snapshot, base::Instant now);

  // A gang starts now.
  void Start(const std::vector<fleet::Grant>& grants, std::optional<base::Instant> ends_by);

  // The first instant at which the gang fits. None: not foreseeable, or the calendar's budget is
  // spent.
  std::optional<Reservation> Reserve(const Shape& shape, std::optional<base::Millis> limit);

  // As of the last reservation, its grants taken.
  const Rooms& rooms() const { return rooms_; }

 private:
  base::Instant at_;
  Rooms rooms_;  // as of at_
  std::multimap<base::Instant, std::vector<fleet::Grant>>
      ends_;  // after at_; equal ones in any order
  std::int64_t looks_left_;
};

}  // namespace pondage::plan
