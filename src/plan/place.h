// The search for a placement: a whole gang, or nothing and no trace.
//
// Pure. Complete for gangs of equal members; a mixed gang that greedy placing cannot serve is
// searched for a fixed number of steps. A gang that names a level of the topology goes to the
// domain that is left with least; where it may be split, to as few of the largest as will do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/ground.h"
#include "plan/lost.h"

namespace pondage::plan {

// Where one member goes.
struct Seat {
  std::size_t node = 0;
  fleet::DemandId demand = 0;
  fleet::States::Pick pick;
};

struct Found {
  std::optional<std::vector<Seat>> seats;  // in the order of the shape's parts; taken
  bool proven = true;                      // false: no placement known, but the search was cut
};

// On success the seats are taken from `view`; otherwise it is as it was.
Found PlaceGang(Ground& ground, fleet::View& view, const Form& form, Lost& lost);

// Whether the view has room for so many members, for each part taken alone. For a gang of equal
// members that decides it.
bool HasRoom(Ground& ground, const fleet::View& view, const Form& form,
             const fleet::NodeSet* within = nullptr);

// Whether it would fit. `view` is left as it was.
bool Fits(Ground& ground, fleet::View& view, const Form& form);

fleet::Grant GrantOf(const Ground& ground, const fleet::States& states, const Seat& seat);

}  // namespace pondage::plan
