// Lists of things in the format that was asked for: table, wide, json, yaml, csv, name.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "terminal/document.h"
#include "terminal/screen.h"

namespace pondage::terminal {

// What a command lists: machine-readable items, and the table that people see.
struct Listing {
  std::string schema;  // "pondage.ps/1"
  json::array items;   // flat objects with a member `name`
  Table table;
  Table wide;  // with more columns; empty headings: as `table`
};

std::string Render(const Listing& listing, const Screen& screen, base::Instant now);

// One thing: as JSON and YAML the whole `document`, else its `item`; nullopt: a person asks.
std::optional<std::string> RenderOne(const json::value& document, const json::object& item,
                                     const Screen& screen);

// One line of JSON without the envelope, for --watch.
std::string RenderLine(const json::value& item);

// Comma-separated values (RFC 4180) of the items' members; nested members are joined by a dot.
std::string ToCsv(const json::array& items, bool header);

}  // namespace pondage::terminal
