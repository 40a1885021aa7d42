#include "cmd/settings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pondage::cmd {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// How many letters must be put in, left out or changed.
std::size_t Distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = k;
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < other.size(); ++k) {
      const std::size_t changed = corner + (one[i] == other[k] ? 0 : 1);
      corner = row[k + 1];
      row[k + 1] = std::min({changed, row[k] + 1, corner + 1});
    }
  }
  return row.back();
}

std::string Near(std::string_view key, const std::set<std::string, std::less<>>& names) {
  const auto nearest = std::ranges::min_element(
      names, {}, [key](const std::string& name) { return Distance(key.substr(0, 64), name); });
  if (nearest == names.end() || Distance(key.substr(0, 64), *nearest) > 3) return "";
  return fmt::format("; did you mean \"{}\"?", *nearest);
}

}  // namespace

std::string WrongSetting(std::string_view text, const std::set<std::string, std::less<>>& names) {
  for (int number = 1; !text.empty(); ++number) {
    const auto stop = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, stop));
    text.remove_prefix(stop == std::string_view::npos ? text.size() : stop + 1);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos)
      return fmt::format("line {}: \"{}\" is not `name = value`", number, line.substr(0, 64));
    const std::string_view key = Trimmed(line.substr(0, equals));
    if (names.contains(key)) continue;
    return fmt::format("line {}: \"{}\" is no setting{}", number, key.substr(0, 64),
                       Near(key, names));
  }
  return "";
}

}  // namespace pondage::cmd
