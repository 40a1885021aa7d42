// What the server keeps for itself alone, as objects of kinds that no client sees: what the users
// of a queue used and what of it has not faded; and when all that waits was last planned.
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "queue/tree.h"

namespace pondage::manifest {

inline constexpr std::string_view kUses = "uses.pondage.dev";

boost::json::object EncodeUses(const std::string& queue,
                               const std::map<std::string, queue::Use>& users);
base::Result<std::vector<queue::Tree::UseOf>> DecodeUses(std::string_view bytes);

inline constexpr std::string_view kPlans = "plans.pondage.dev";

boost::json::object EncodePlanned(base::Instant at);
base::Result<base::Instant> DecodePlanned(std::string_view bytes);

}  // namespace pondage::manifest
