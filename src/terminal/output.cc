#include "terminal/output.h"

#include <fmt/core.h>

#include <algorithm>

#include "terminal/document.h"
#include "terminal/text.h"

namespace pondage::terminal {
namespace {

// Members as columns, in the order in which they are first met: the depth is bounded because our
// own items are shallow, and what is deeper is written as JSON.
void Flatten(const json::object& item, const std::string& prefix, int depth,
             std::vector<std::pair<std::string, std::string>>& cells) {
  for (const auto& [key, value] : item) {
    const std::string name = prefix + std::string(key);
    if (value.is_object() && depth < 2) {
      Flatten(value.get_object(), name + ".", depth + 1, cells);
    } else if (value.is_null()) {
      cells.emplace_back(name, "");
    } else if (const json::string* text = value.if_string()) {
      cells.emplace_back(name, std::string(*text));
    } else {
      cells.emplace_back(name, json::serialize(value));
    }
  }
}

std::string NameOf(const json::value& item) {
  const json::object* members = item.if_object();
  const json::value* name = members == nullptr ? nullptr : members->if_contains("name");
  return name == nullptr || !name->is_string() ? "" : std::string(name->get_string());
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

}  // namespace

std::string ToCsv(const json::array& items, bool header) {
  std::vector<std::string> columns;
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  for (const json::value& item : items) {
    if (!item.is_object()) continue;
    Flatten(item.get_object(), "", 0, rows.emplace_back());
    for (const auto& [name, text] : rows.back()) {
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
    }
  }
  std::string out;
  if (header) {
    std::vector<std::string> titles;
    titles.reserve(columns.size());
    for (const std::string& name : columns) titles.push_back(CsvCell(name));
    out += Join(titles, ",") + "\r\n";
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto found =
          std::ranges::find(row, columns[i], &std::pair<std::string, std::string>::first);
      if (i > 0) out += ",";
      if (found != row.end()) out += CsvCell(found->second);
    }
    out += "\r\n";
  }
  return out;
}

std::string RenderLine(const json::value& item) {
  return json::serialize(item) + "\n";
}

std::optional<std::string> RenderOne(const json::value& document, const json::object& item,
                                     const Screen& screen) {
  switch (screen.format) {
    case Format::kJson:
      return ToPrettyJson(document);
    case Format::kYaml:
      return ToYaml(document);
    case Format::kCsv:
      return ToCsv({item}, screen.header);
    case Format::kName:
      return NameOf(item) + "\n";
    case Format::kWide:
    case Format::kTable:
      break;
  }
  return std::nullopt;
}

std::string Render(const Listing& listing, const Screen& screen, base::Instant now) {
  switch (screen.format) {
    case Format::kCsv:
      return ToCsv(listing.items, screen.header);
    case Format::kName: {
      std::string names;
      for (const json::value& item : listing.items) names += NameOf(item) + "\n";
      return names;
    }
    case Format::kJson:
    case Format::kYaml: {
      const json::object whole{
          {"schema", listing.schema}, {"asOf", Rfc3339(now)}, {"items", listing.items}};
      return screen.format == Format::kJson ? ToPrettyJson(whole) : ToYaml(whole);
    }
    case Format::kWide:
    case Format::kTable:
      break;
  }
  const bool wide = screen.format == Format::kWide && !listing.wide.headings.empty();
  std::string text = (wide ? listing.wide : listing.table).Text(screen);
  // People come back to a table that still stands there; programs take its lines as rows.
  if (screen.out_is_terminal && screen.header) {
    text += screen.Out(Tint::kDim, screen.Pick("as of ", "截至 ") + ClockText(now)) + "\n";
  }
  return text;
}

}  // namespace pondage::terminal
