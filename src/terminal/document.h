// A JSON value as a document for people: YAML, or JSON with its lines indented.
//
// Pure; any thread.
#pragma once

#include <boost/json.hpp>
#include <string>

namespace pondage::terminal {

namespace json = boost::json;

// Keys in their order.
std::string ToYaml(const json::value& value);
// Two spaces a level, one member a line, with a line end behind it.
std::string ToPrettyJson(const json::value& value);

}  // namespace pondage::terminal
