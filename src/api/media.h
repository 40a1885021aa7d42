// Media types: what a client accepts, and which form of an object that means.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pondage::api {

struct MediaRange {
  std::string type;  // lower case, "application/json"
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string Parameter(std::string_view name) const;
};
// In the order of the header; an absent one is "*/*".
std::vector<MediaRange> ParseAccept(std::string_view accept);

struct Form {
  enum class Shape : std::uint8_t { kWhole, kTable, kPartial };
  Shape shape = Shape::kWhole;
  std::string version = "v1";  // of meta.k8s.io
};
// The first servable entry. None: nothing is (406).
std::optional<Form> Negotiate(std::string_view accept);

}  // namespace pondage::api
