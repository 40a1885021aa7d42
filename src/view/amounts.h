// Kubernetes quantities as numbers for people and tables.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/json.h"

namespace pondage::view {

namespace json = boost::json;

// "4", "3500m", 4: GPUs in thousandths; none when absent or no quantity.
std::optional<std::int64_t> MilliOf(const json::value& object, client::Path path);
std::optional<std::int64_t> BytesOf(const json::value& object, client::Path path);
// 3500 -> "3.5", 4000 -> "4".
std::string MilliText(std::int64_t milli);

}  // namespace pondage::view
