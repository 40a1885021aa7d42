// What flags say instead of a workload file.

#include "trace/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "trace/amount.h"
#include "trace/yaml_field.h"
#include "trace/yaml_rules.h"

namespace pondage::trace {

namespace {

// "key=value,key=value" read by the rules of a file: as the map that it would be there.
template <class Read>
base::Result<void> AsMap(std::string_view text, const std::string& flag, Read read) {
  std::string yaml = "{";
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = part.find('=');
    const bool is_plain = part.find_first_of("\"\\\n{}[]:#&*!|>'%@`") == std::string_view::npos;
    if (equals == std::string_view::npos || !is_plain) {
      return base::Fail(base::Kind::kInvalid, "", flag,
                        fmt::format("\"{}\" is not like KEY=VALUE", part.substr(0, 80)));
    }
    yaml += fmt::format("{}{}: {}", yaml.size() > 1 ? ", " : "", part.substr(0, equals),
                        part.substr(equals + 1));
  }
  constexpr std::string_view kFirst = "line 1: ";  // there is no other
  try {
    read(Field::Root(yaml + "}"));
  } catch (const Wrong& wrong) {
    std::string why = wrong.message;
    if (why.starts_with(kFirst)) why.erase(0, kFirst.size());
    return base::Fail(base::Kind::kInvalid, "", flag, std::move(why));
  }
  return {};
}

}  // namespace

base::Result<std::vector<Machines>> MachinesFlag(std::string_view text) {
  std::vector<Machines> fleet;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto colon = std::min(part.find(':'), part.size());
    const auto by = std::min(part.find('x'), colon);
    const std::int64_t count = Whole(part.substr(0, by)).value_or(0);
    const std::int64_t gpus =
        by < colon ? Whole(part.substr(by + 1, colon - by - 1)).value_or(-1) : -1;
    if (count < 1 || count > 100'000 || gpus < 0 || gpus > 64) {
      return base::Fail(base::Kind::kInvalid, "", "--machines",
                        fmt::format("\"{}\" is not like 18x8 or 18x8:V100", part.substr(0, 80)));
    }
    const std::string type(part.substr(std::min(colon + 1, part.size())));
    fleet.push_back({.name = fleet.empty() ? "node" : fmt::format("node{}", fleet.size() + 1),
                     .count = static_cast<int>(count),
                     .gpus = static_cast<int>(gpus),
                     .gpu_type = type});
  }
  if (fleet.empty()) return base::Fail(base::Kind::kInvalid, "", "--machines", "it is empty");
  return fleet;
}

base::Result<void> FaultsFlag(std::string_view text, Faults& faults) {
  return AsMap(text, "--faults", [&](Field field) { ReadFaults(std::move(field), faults); });
}

base::Result<void> CostsFlag(std::string_view text, Policy& policy) {
  return AsMap(text, "--costs", [&](Field field) {
    ReadCosts(field, policy);
    field.NothingElse();
  });
}

}  // namespace pondage::trace
