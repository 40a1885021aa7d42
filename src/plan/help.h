// The cheapest change of a gang that would let it fit, as the words of Refusal::help.
//
// Pure. Tries, in this order: the same GPUs in more, smaller workers; fewer workers; fewer GPUs for
// a single worker; any GPU type; no labels.
#pragma once

#include <string>

#include "plan/ground.h"

namespace pondage::plan {

// `view` is left as it was.
std::string CheapestChange(const Ask& ask, Ground& ground, fleet::View& view);

}  // namespace pondage::plan
