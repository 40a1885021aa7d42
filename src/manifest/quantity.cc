#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "manifest/object.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

using Wide = unsigned __int128;

struct Suffix {
  std::string_view text;
  int power_of_ten;
  int power_of_two;
};
constexpr Suffix kSuffixes[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},
                                {"k", 3, 0},   {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},
                                {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
                                {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}};

// sign digits [. digits] suffix, as mantissa * 10^ten * 2^two.
struct Parsed {
  bool minus = false;
  std::string digits;  // without leading zeros; empty: zero
  int ten = 0;
  int two = 0;
};

std::string_view TakeDigits(std::string_view& text) {
  const auto end = std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; });
  const auto count = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// The exponent of "e3" or "E-12", bounded; none when it is no exponent.
std::optional<int> Exponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = TakeDigits(text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  constexpr int kFar = 1000;  // beyond it every mantissa is zero or too large
  int value = 0;
  for (const char digit : digits) value = std::min(kFar, value * 10 + (digit - '0'));
  return minus ? -value : value;
}

std::optional<Parsed> Split(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  Parsed parsed;
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  parsed.minus = text.starts_with('-');
  if (parsed.minus || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = TakeDigits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  parsed.ten = -static_cast<int>(fraction.size());
  parsed.digits.append(whole).append(fraction);
  parsed.digits.erase(0, std::min(parsed.digits.find_first_not_of('0'), parsed.digits.size()));
  if (const auto exponent = Exponent(text)) {
    parsed.ten += *exponent;
    return parsed;
  }
  const auto* suffix = std::ranges::find(kSuffixes, text, &Suffix::text);
  if (suffix == std::end(kSuffixes)) return std::nullopt;
  parsed.ten += suffix->power_of_ten;
  parsed.two += suffix->power_of_two;
  return parsed;
}

// The magnitude in units of 10^-scale, rounded up; none above int64. A decimal exponent moves the
// point inside the digits, so that nothing wider than 128 bits is needed.
std::optional<std::int64_t> Magnitude(Parsed parsed, int scale) {
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  parsed.ten += scale;
  std::string& digits = parsed.digits;
  if (digits.empty()) return 0;
  if (parsed.ten > 0) {
    if (digits.size() + static_cast<std::size_t>(parsed.ten) > 19) return std::nullopt;
    digits.append(static_cast<std::size_t>(parsed.ten), '0');
    parsed.ten = 0;
  }
  // value = (whole + 0.fraction) * 2^two, digit by digit: binary first, decimals kept exact.
  const auto places = static_cast<std::size_t>(-parsed.ten);
  const std::size_t cut = digits.size() > places ? digits.size() - places : 0;
  if (cut > 19) return std::nullopt;
  Wide whole = 0;
  for (const char digit : digits.substr(0, cut)) whole = whole * 10 + Wide(digit - '0');
  std::string fraction(places > digits.size() ? places - digits.size() : 0, '0');
  fraction.append(digits, cut);
  for (int i = 0; i < parsed.two; ++i) {  // doubles the decimal number
    int carry = 0;
    for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
      const int twice = 2 * (*digit - '0') + carry;
      *digit = static_cast<char>('0' + twice % 10);
      carry = twice / 10;
    }
    whole = 2 * whole + Wide(carry);
    if (whole > kMost) return std::nullopt;
  }
  if (fraction.find_first_not_of('0') != std::string::npos) ++whole;
  if (whole > kMost) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

base::Result<std::int64_t> Scaled(const json::value& quantity, int scale) {
  std::string text;
  if (quantity.is_string()) {
    text = quantity.get_string();
  } else if (quantity.is_double()) {
    text = fmt::format("{}", quantity.get_double());
  } else if (quantity.is_number()) {
    text = json::serialize(quantity);
  }
  const auto refuse = [&](std::string_view why) {
    return base::Fail(base::Kind::kInvalid, kQuantityId, "",
                      fmt::format("Invalid value: {}: {}", Shown(quantity), why));
  };
  const auto parsed = Split(text);
  if (!parsed) return refuse("is no quantity such as 2, 500m, 1.5Gi");
  const auto magnitude = Magnitude(*parsed, scale);
  if (!magnitude) return refuse("is too large");
  if (parsed->minus && *magnitude != 0) return refuse("must be greater than or equal to 0");
  return *magnitude;
}

}  // namespace

base::Result<std::int64_t> ParseWhole(const json::value& quantity) {
  return Scaled(quantity, 0);
}

base::Result<base::MilliCpu> ParseCpu(const json::value& quantity) {
  TRY(const std::int64_t milli, Scaled(quantity, 3));
  return base::MilliCpu{milli};
}

base::Result<base::Bytes> ParseBytes(const json::value& quantity) {
  TRY(const std::int64_t bytes, Scaled(quantity, 0));
  return base::Bytes{bytes};
}

}  // namespace pondage::manifest
