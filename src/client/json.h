// Reading members of JSON objects that other programs wrote, without surprises: what is missing or
// of another type reads as empty.
//
// Pure; any thread.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/result.h"

namespace pondage::client {

namespace json = boost::json;
using Path = std::initializer_list<std::string_view>;

const json::value* Find(const json::value& object, Path path);
std::string Text(const json::value& object, Path path);  // numbers and booleans as text, too
std::optional<std::int64_t> Number(const json::value& object, Path path);
std::int64_t NumberOr(const json::value& object, Path path, std::int64_t otherwise);
bool IsTrue(const json::value& object, Path path);
std::optional<base::Instant> Time(const json::value& object, Path path);
const json::array& Items(const json::value& object, Path path);  // empty when there is none
const json::object& Members(const json::value& object, Path path);

// `text` as one JSON text; PND-C012 with `what` otherwise.
base::Result<json::value> ParseReply(std::string_view text, std::string_view what);

}  // namespace pondage::client
