#include "trace/amount.h"

#include <algorithm>
#include <array>
#include <limits>

namespace pondage::trace {

namespace {

using Wide = __int128;

constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
constexpr int kDigits = 18;  // kept of a number; the rest only moves the point

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view TakeDigits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, IsDigit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool TakeChar(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// A number without its sign: `mantissa` x 10^`exponent`.
struct Float {
  Wide mantissa = 0;
  int exponent = 0;
};

void Append(Float& number, std::string_view digits, bool fraction, int& kept) {
  for (const char c : digits) {
    if (kept < kDigits) {
      number.mantissa = number.mantissa * 10 + (c - '0');
      if (number.mantissa != 0) ++kept;
      if (fraction) --number.exponent;
    } else if (!fraction) {
      ++number.exponent;
    }
  }
}

// Takes "12", "1.5", "1.5e-3"; none: no number begins here.
std::optional<Float> TakeFloat(std::string_view& text) {
  const std::string_view whole = TakeDigits(text);
  std::string_view fraction;
  if (TakeChar(text, '.')) fraction = TakeDigits(text);
  if (whole.empty() && fraction.empty()) return std::nullopt;
  if (whole.size() + fraction.size() > 400) return std::nullopt;
  Float number;
  int kept = 0;
  Append(number, whole, false, kept);
  Append(number, fraction, true, kept);
  std::string_view rest = text;
  if (TakeChar(rest, 'e') || TakeChar(rest, 'E')) {
    const bool down = TakeChar(rest, '-');
    if (!down) TakeChar(rest, '+');
    const std::string_view digits = TakeDigits(rest);
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    int exponent = 0;
    for (const char c : digits) exponent = exponent * 10 + (c - '0');
    number.exponent += down ? -exponent : exponent;
    text = rest;
  }
  return number;
}

std::optional<std::int64_t> Scaled(const Float& number, std::int64_t scale) {
  Wide value = number.mantissa * scale;
  int exponent = number.exponent;
  for (; exponent > 0 && value != 0; --exponent) {
    value *= 10;
    if (value > kMost) return std::nullopt;
  }
  if (exponent < -36) return 0;
  Wide divisor = 1;
  for (; exponent < 0; ++exponent) divisor *= 10;
  value = value / divisor + (value % divisor >= divisor - value % divisor ? 1 : 0);
  if (value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> Bounded(std::string_view text, std::int64_t most) {
  const std::string_view digits = TakeDigits(text);
  if (digits.empty() || digits.size() > 9 || !text.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  if (value > most) return std::nullopt;
  return value;
}

// Days from 1970-01-01 to the first of March of `year`: leap days then come last.
std::int64_t DaysToMarch(std::int64_t year) {
  return year * 365 + year / 4 - year / 100 + year / 400 - 719'468;
}

std::optional<std::int64_t> Day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = Bounded(text.substr(0, 4), 9999);
  const auto month = Bounded(text.substr(5, 2), 12);
  const auto day = Bounded(text.substr(8, 2), 31);
  if (!year || !month || !day || *year < 1970 || *month < 1 || *day < 1) return std::nullopt;
  constexpr std::array<int, 13> kLengths = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (*day > kLengths[static_cast<std::size_t>(*month)]) return std::nullopt;
  const bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
  if (*month == 2 && *day == 29 && !leap) return std::nullopt;
  const std::int64_t from_march = *month >= 3 ? *year : *year - 1;
  const std::int64_t months = (*month + 9) % 12;  // since March
  return DaysToMarch(from_march) + (153 * months + 2) / 5 + *day - 1;
}

struct Unit {
  std::string_view name;
  std::int64_t value;
};

// Longer names first where one begins like another.
constexpr Unit kLengths[] = {{"ms", 1},        {"min", 60'000},   {"s", 1'000},      {"m", 60'000},
                             {"h", 3'600'000}, {"d", 86'400'000}, {"w", 604'800'000}};
constexpr Unit kSizes[] = {{"", 1},           {"k", 1'000},         {"K", 1'000},
                           {"M", 1'000'000},  {"G", 1'000'000'000}, {"T", 1'000'000'000'000},
                           {"Ki", 1LL << 10}, {"Mi", 1LL << 20},    {"Gi", 1LL << 30},
                           {"Ti", 1LL << 40}};

}  // namespace

std::optional<std::int64_t> Whole(std::string_view text) {
  const bool minus = TakeChar(text, '-');
  const std::string_view digits = TakeDigits(text);
  if (digits.empty() || digits.size() > kDigits || !text.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return minus ? -value : value;
}

std::optional<std::int64_t> Decimal(std::string_view text, std::int64_t scale) {
  const bool minus = TakeChar(text, '-');
  const auto number = TakeFloat(text);
  if (!number || !text.empty()) return std::nullopt;
  const auto value = Scaled(*number, scale);
  if (!value) return std::nullopt;
  return minus ? -*value : *value;
}

std::optional<base::Millis> Length(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto number = TakeFloat(text);
    if (!number) return std::nullopt;
    const auto unit =
        std::ranges::find_if(kLengths, [&](const Unit& u) { return text.starts_with(u.name); });
    if (unit == std::end(kLengths)) return std::nullopt;
    text.remove_prefix(unit->name.size());
    const auto part = Scaled(*number, unit->value);
    if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
  }
  return base::Millis{sum};
}

std::optional<base::Bytes> Size(std::string_view text) {
  const auto number = TakeFloat(text);
  if (!number) return std::nullopt;
  if (text.ends_with('B')) text.remove_suffix(1);
  const auto unit = std::ranges::find(kSizes, text, &Unit::name);
  if (unit == std::end(kSizes)) return std::nullopt;
  const auto value = Scaled(*number, unit->value);
  if (!value) return std::nullopt;
  return base::Bytes{*value};
}

std::optional<base::Instant> Moment(std::string_view text) {
  const auto day = Day(text.substr(0, 10));
  if (!day) return std::nullopt;
  std::int64_t seconds = 0;
  if (text.size() > 10) {
    if (text.size() != 19 || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' ||
        text[16] != ':') {
      return std::nullopt;
    }
    const auto hour = Bounded(text.substr(11, 2), 23);
    const auto minute = Bounded(text.substr(14, 2), 59);
    const auto second = Bounded(text.substr(17, 2), 60);
    if (!hour || !minute || !second) return std::nullopt;
    seconds = *hour * 3'600 + *minute * 60 + *second;
  }
  return base::Instant{(*day * 86'400 + seconds) * 1'000};
}

std::optional<base::Millis> SlurmLength(std::string_view text) {
  std::int64_t days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = Bounded(text.substr(0, dash), 1'000'000);
    if (!value) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  for (bool more = true; more; ++parts) {
    const auto colon = text.find(':');
    more = colon != std::string_view::npos;
    std::string_view part = text.substr(0, colon);
    if (!more) part = part.substr(0, part.find('.'));  // of a second
    const auto value = Bounded(part, 100'000'000);
    if (!value || parts == 3) return std::nullopt;
    seconds = seconds * 60 + *value;
    if (more) text.remove_prefix(colon + 1);
  }
  if (parts < 2) return std::nullopt;
  return base::SecondsLong(days * 86'400 + seconds);
}

}  // namespace pondage::trace
