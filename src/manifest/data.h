// What a ConfigMap or a Secret holds, as bytes by key.
//
// Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pondage::manifest {

// `data` and `binaryData` of a ConfigMap, `data` of a Secret (base64 in JSON, bytes here). None:
// not such an object, or base64 that is none.
std::optional<std::map<std::string, std::string>> DataOfObject(std::string_view body);

// RFC 4648, with padding. None: not base64.
std::string ToBase64(std::string_view bytes);
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace pondage::manifest
