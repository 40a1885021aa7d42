// Jobs that hold what they got from start to end, offered places in order: the plain policies that
// interrupt nobody.
//
// Pure. At one instant ends come before arrivals, and then jobs start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "baseline/plain.h"

namespace pondage::baseline {

// Where jobs sit.
class Room {
 public:
  virtual ~Room() = default;
  // Places the job: how long it will stay, in ms. None: it does not fit now.
  virtual std::optional<std::int64_t> Take(std::size_t job) = 0;
  virtual void Give(std::size_t job) = 0;
};

struct Waiting {
  std::int64_t submit_ms = 0;
  int kind = 0;          // jobs of one kind fit alike
  std::int64_t key = 0;  // the smallest first, then by arrival
};

// `strict`: whoever does not fit holds back all behind it. Requires jobs by submission. What never
// fits has no stay.
std::vector<std::vector<Stay>> Hold(const std::vector<Waiting>& jobs, Room& room, bool strict);

}  // namespace pondage::baseline
