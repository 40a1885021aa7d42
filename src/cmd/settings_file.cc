#include "cmd/settings_file.h"

#include <fmt/format.h>

#include "grammar/nearest.h"

namespace pondage::cmd {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string Near(std::string_view key, const std::set<std::string, std::less<>>& names) {
  const std::string nearest = grammar::Nearest(key, {names.begin(), names.end()});
  return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
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
