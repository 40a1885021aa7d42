#include "api/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace pondage::api {

namespace {

using manifest::Requirement;

// The value behind `start` ("l:key=") among lines that each end with '\n'.
std::optional<std::string_view> ValueOf(std::string_view facets, std::string_view start) {
  while (!facets.empty()) {
    const auto end = facets.find('\n');
    const std::string_view line = facets.substr(0, end);
    if (line.starts_with(start)) return line.substr(start.size());
    if (end == std::string_view::npos) break;
    facets.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool Holds(const Requirement& need, const std::optional<std::string_view>& value) {
  const bool listed = value && std::ranges::find(need.values, *value) != need.values.end();
  switch (need.op) {
    case Requirement::Operator::kExists:
      return value.has_value();
    case Requirement::Operator::kAbsent:
      return !value;
    case Requirement::Operator::kIn:
      return listed;
    case Requirement::Operator::kNotIn:
      return !listed;
    case Requirement::Operator::kGreater:
    case Requirement::Operator::kLess:
      break;
  }
  const auto have = value ? Number(*value) : std::nullopt;
  const auto bound = need.values.empty() ? std::nullopt : Number(need.values.front());
  if (!have || !bound) return false;
  return need.op == Requirement::Operator::kGreater ? *have > *bound : *have < *bound;
}

}  // namespace

Outcome<Selection> Selection::Of(const Request& request, const manifest::Kind& kind) {
  Selection selection;
  if (const std::string text = request.query.Get("labelSelector"); !text.empty()) {
    auto labels = manifest::ParseLabelSelector(text);
    if (!labels) return Refuse(BadRequest(labels.error().message));
    selection.labels_ = *std::move(labels);
  }
  if (const std::string text = request.query.Get("fieldSelector"); !text.empty()) {
    auto fields = manifest::ParseFieldSelector(text);
    if (!fields) return Refuse(BadRequest(fields.error().message));
    selection.fields_ = *std::move(fields);
  }
  for (const auto& need : selection.fields_) {
    const bool common =
        need.path == "metadata.name" || (kind.namespaced && need.path == "metadata.namespace");
    if (!common && std::ranges::find(kind.fields, need.path) == kind.fields.end()) {
      return Refuse(BadRequest(fmt::format("field label not supported: {}", need.path)));
    }
  }
  return selection;
}

bool Selection::Matches(std::string_view facets) const {
  const bool labels = std::ranges::all_of(labels_, [&](const Requirement& need) {
    return Holds(need, ValueOf(facets, "l:" + need.key + "="));
  });
  return labels && std::ranges::all_of(fields_, [&](const manifest::FieldRequirement& need) {
           const auto value = ValueOf(facets, "f:" + need.path + "=").value_or("");
           return (value == need.value) == need.equal;
         });
}

std::string Selection::Facet() const {
  for (const auto& need : fields_) {
    if (need.equal && need.path == "metadata.name") return "f:metadata.name=" + need.value;
  }
  for (const auto& need : labels_) {
    if (need.op == Requirement::Operator::kIn && need.values.size() == 1) {
      return "l:" + need.key + "=" + need.values.front();
    }
  }
  for (const auto& need : fields_) {
    if (need.equal && !need.value.empty()) return "f:" + need.path + "=" + need.value;
  }
  return "";
}

std::string Selection::Name() const {
  for (const auto& need : fields_) {
    if (need.equal && need.path == "metadata.name") return need.value;
  }
  return "";
}

}  // namespace pondage::api
