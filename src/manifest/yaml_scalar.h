// What a YAML scalar means, as kubectl reads it (YAML 1.1 words: a bare `y` is true).
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pondage::manifest {

// A plain (unquoted, untagged) scalar.
boost::json::value PlainScalar(std::string_view text);

// A scalar with the tag that yaml-cpp hands out: "?" plain, "!" quoted, else a full tag. A number
// that JSON cannot hold (.inf, .nan) and an unknown tag are kInvalid.
base::Result<boost::json::value> TaggedScalar(std::string_view tag, std::string_view text);

// The member name that a scalar makes when it stands as a key.
base::Result<std::string> KeyOf(const boost::json::value& scalar);

}  // namespace pondage::manifest
