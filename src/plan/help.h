// The cheapest change of a gang that would let it fit, as the words of Refusal::help.
//
// Pure. Tries, in this order: the same GPUs in more, smaller workers; fewer workers; fewer GPUs for
// a single worker; any GPU type; no labels.
#pragma once

#include <string>

#include "plan/order.h"
#include "plan/rooms.h"

namespace pondage::plan {

// `rooms` is left as it was.
std::string CheapestChange(const Ask& ask, Rooms& rooms);

}  // namespace pondage::plan
