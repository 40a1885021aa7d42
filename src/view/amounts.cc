#include "view/amounts.h"

#include <fmt/core.h>

#include "manifest/object.h"

namespace pondage::view {

std::optional<std::int64_t> MilliOf(const json::value& object, client::Path path) {
  const json::value* found = client::Find(object, path);
  if (found == nullptr) return std::nullopt;
  const auto amount = manifest::ParseCpu(*found);
  return amount ? std::optional(amount->value) : std::nullopt;
}

std::optional<std::int64_t> BytesOf(const json::value& object, client::Path path) {
  const json::value* found = client::Find(object, path);
  if (found == nullptr) return std::nullopt;
  const auto amount = manifest::ParseBytes(*found);
  return amount ? std::optional(amount->value) : std::nullopt;
}

std::string MilliText(std::int64_t milli) {
  if (milli % 1000 == 0) return std::to_string(milli / 1000);
  std::string text = fmt::format("{:.3f}", static_cast<double>(milli) / 1000);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace pondage::view
