#include "api/media.h"

#include <algorithm>

namespace pondage::api {

namespace {

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string MediaRange::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return "";
}

std::vector<MediaRange> ParseAccept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  if (Trim(accept).empty()) return {{"*/*", {}}};
  for (const std::string_view entry : Split(accept, ',')) {
    const auto parts = Split(entry, ';');
    MediaRange range;
    range.type = parts[0];
    std::ranges::transform(range.type, range.type.begin(),
                           [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto equals = parts[i].find('=');
      if (equals == std::string_view::npos) continue;
      range.parameters.emplace_back(Trim(parts[i].substr(0, equals)),
                                    Trim(parts[i].substr(equals + 1)));
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

std::optional<Form> Negotiate(std::string_view accept) {
  for (const MediaRange& range : ParseAccept(accept)) {
    if (range.type != "application/json" && range.type != "*/*" && range.type != "application/*") {
      continue;
    }
    const std::string as = range.Parameter("as");
    if (as.empty()) return Form{};
    const std::string version = range.Parameter("v");
    const bool meta =
        range.Parameter("g") == "meta.k8s.io" && (version == "v1" || version == "v1beta1");
    if (!meta) continue;
    if (as == "Table") return Form{Form::Shape::kTable, version};
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      return Form{Form::Shape::kPartial, version};
    }
  }
  return std::nullopt;
}

}  // namespace pondage::api
