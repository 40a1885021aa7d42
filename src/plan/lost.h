// What placing a member in a machine's state loses of the future's room.
//
// Pure but for what it remembers: each (state, demand) is worked out once. Less is better.
#pragma once

#include <cstdint>
#include <vector>

#include "fleet/states.h"
#include "plan/policy.h"

namespace pondage::plan {

class Lost {
 public:
  Lost(fleet::States& states, Packing packing) : states_(states), packing_(packing) {}

  // Requires that a member fits.
  std::int64_t Of(fleet::StateId state, fleet::DemandId demand);

 private:
  std::int64_t Left(fleet::StateId state);

  fleet::States& states_;
  Packing packing_;
  std::vector<std::int64_t> left_;  // by state; -1: not worked out
};

}  // namespace pondage::plan
