#include "terminal/text.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

namespace pondage::terminal {
namespace {

using base::Fail;
using base::Kind;

constexpr std::int64_t kLongestSeconds = std::int64_t{100} * 366 * 24 * 3600;

bool Digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits at the front of `rest`, taken off it; none when there are none or too many.
std::optional<std::int64_t> TakeNumber(std::string_view& rest) {
  std::size_t length = 0;
  std::int64_t value = 0;
  while (length < rest.size() && Digit(rest[length])) {
    if (length >= 12) return std::nullopt;
    value = value * 10 + (rest[length] - '0');
    ++length;
  }
  if (length == 0) return std::nullopt;
  rest.remove_prefix(length);
  return value;
}

std::optional<std::int64_t> UnitSeconds(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 24 * 3600;
    case 'w':
      return 7 * 24 * 3600;
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> ClockSeconds(std::string_view text) {
  std::int64_t total = 0;
  int parts = 0;
  while (true) {
    auto number = TakeNumber(text);
    if (!number || ++parts > 3) return std::nullopt;
    total = total * 60 + *number;
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  if (parts == 2) total *= 60;  // "1:30" is an hour and a half, as with batch systems
  return total;
}

std::optional<std::int64_t> UnitsSeconds(std::string_view text) {
  std::int64_t total = 0;
  while (!text.empty()) {
    auto number = TakeNumber(text);
    if (!number) return std::nullopt;
    if (text.empty()) return total == 0 ? number : std::nullopt;  // a bare number: seconds
    auto unit = UnitSeconds(text.front());
    if (!unit || *number > kLongestSeconds / *unit) return std::nullopt;
    total += *number * *unit;
    text.remove_prefix(1);
  }
  return total;
}

std::tm LocalTime(base::Instant at) {
  const std::time_t seconds = at.unix_ms / 1000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

std::string Strftime(const char* pattern, const std::tm& parts) {
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), pattern, &parts);
  return std::string(text.data(), length);
}

}  // namespace

base::Result<base::Millis> ParseLength(std::string_view text) {
  std::optional<std::int64_t> seconds;
  if (!text.empty()) {
    seconds = text.find(':') == std::string_view::npos ? UnitsSeconds(text) : ClockSeconds(text);
  }
  if (!seconds || *seconds > kLongestSeconds) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("\"{}\" is not a length of time: use 90s, 10m, 2h or 1d", text));
  }
  return base::SecondsLong(*seconds);
}

base::Result<base::Bytes> ParseSize(std::string_view text) {
  const auto bad = [&] {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("\"{}\" is not a size: use 512Mi, 8Gi or 2G", text));
  };
  std::size_t end = 0;
  while (end < text.size() && (Digit(text[end]) || text[end] == '.')) ++end;
  if (end == 0 || end > 18) return bad();
  const std::string number(text.substr(0, end));
  std::string unit;
  for (char c : text.substr(end)) unit += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (!unit.empty() && unit.back() == 'b') unit.pop_back();
  static constexpr std::array<std::pair<std::string_view, double>, 11> kUnits{
      {{"", 1},
       {"k", 1e3},
       {"m", 1e6},
       {"g", 1e9},
       {"t", 1e12},
       {"p", 1e15},
       {"ki", 1024.0},
       {"mi", 1048576.0},
       {"gi", 1073741824.0},
       {"ti", 1099511627776.0},
       {"pi", 1125899906842624.0}}};
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    char* stopped = nullptr;
    const double value = std::strtod(number.c_str(), &stopped) * factor;
    if (*stopped != '\0' || value >= 9e18) return bad();
    return base::Bytes{static_cast<std::int64_t>(std::ceil(value))};
  }
  return bad();
}

std::string QuantityOf(base::Bytes size) {
  static constexpr std::array<std::string_view, 5> kUnits{"", "Ki", "Mi", "Gi", "Ti"};
  std::int64_t value = size.value;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && value != 0 && value % 1024 == 0) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", value, kUnits[unit]);
}

std::string ShortAge(base::Millis length) {
  const std::int64_t seconds = std::max<std::int64_t>(length.value, 0) / 1000;
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 120 * 60) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

std::string LongAge(base::Millis length) {
  const std::int64_t seconds = std::max<std::int64_t>(length.value, 0) / 1000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) {
    return seconds % 60 == 0 ? fmt::format("{} min", seconds / 60)
                             : fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  if (seconds < 86400) {
    const std::int64_t minutes = seconds / 60 % 60;
    return minutes == 0 ? fmt::format("{} h", seconds / 3600)
                        : fmt::format("{} h {} min", seconds / 3600, minutes);
  }
  const std::int64_t hours = seconds / 3600 % 24;
  return hours == 0 ? fmt::format("{} d", seconds / 86400)
                    : fmt::format("{} d {} h", seconds / 86400, hours);
}

std::string SizeText(base::Bytes size) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(size.value);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0 || value >= 100) return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Moment(base::Instant at, base::Instant now) {
  const std::tm then = LocalTime(at);
  const std::tm today = LocalTime(now);
  const bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
  return Strftime(same_day ? "%H:%M" : "%b %e %H:%M", then);
}

std::string ClockText(base::Instant at) {
  return Strftime("%H:%M:%S", LocalTime(at));
}

std::string Rfc3339(base::Instant at) {
  const std::time_t seconds = at.unix_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return Strftime("%Y-%m-%dT%H:%M:%SZ", parts);
}

std::optional<base::Instant> ParseRfc3339(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  std::int64_t ms = 0;
  if (*rest == '.') {
    std::int64_t scale = 100;
    for (++rest; Digit(*rest); ++rest, scale /= 10) ms += (*rest - '0') * scale;
  }
  std::int64_t offset_s = 0;
  if (*rest == '+' || *rest == '-') {
    int hours = 0;
    int minutes = 0;
    if (std::sscanf(rest + 1, "%2d:%2d", &hours, &minutes) != 2) return std::nullopt;
    offset_s = (hours * 3600 + minutes * 60) * (*rest == '-' ? -1 : 1);
  } else if (*rest != 'Z' && *rest != 'z') {
    return std::nullopt;
  }
  return base::Instant{(static_cast<std::int64_t>(timegm(&parts)) - offset_s) * 1000 + ms};
}

base::Instant Now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!joined.empty()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string ShellQuote(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      quoted.push_back(word);
      continue;
    }
    std::string safe = "'";
    for (char c : word) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted.push_back(safe + "'");
  }
  return Join(quoted, " ");
}

}  // namespace pondage::terminal
