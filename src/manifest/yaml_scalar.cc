#include "manifest/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};

template <std::size_t n>
bool Among(const std::array<std::string_view, n>& words, std::string_view text) {
  return std::ranges::find(words, text) != words.end();
}

// Go's integer literals: 12, 0x1f, 0b11, 0o17 and 017.
std::optional<json::value> Integer(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), magnitude, base);
  if (text.empty() || error != std::errc() || end != text.end()) return std::nullopt;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  if (!minus)
    return magnitude < kTop ? json::value(std::int64_t(magnitude)) : json::value(magnitude);
  if (magnitude > kTop) return std::nullopt;
  return json::value(static_cast<std::int64_t>(0 - magnitude));
}

// [-+]? ( .digits | digits [ . digits? ] ) ( e [-+]? digits )?
bool LooksLikeFloat(std::string_view text) {
  const auto digits = [&text] {
    const auto end = std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; });
    const auto count = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(count);
    return count > 0;
  };
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool whole = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!digits() && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (!digits()) return false;
  }
  return text.empty();
}

std::optional<json::value> Float(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  // JSON text written by Go has no point in a whole number, and so has ours.
  const json::value value(number);
  if (const auto whole = WholeNumber(value)) return json::value(*whole);
  return value;
}

bool NotFinite(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  static constexpr std::array<std::string_view, 6> kWords = {".inf", ".Inf", ".INF",
                                                             ".nan", ".NaN", ".NAN"};
  return Among(kWords, text);
}

}  // namespace

json::value PlainScalar(std::string_view text) {
  if (Among(kNull, text)) return nullptr;
  if (Among(kTrue, text)) return true;
  if (Among(kFalse, text)) return false;
  const char first = text.front();
  if ((first < '0' || first > '9') && first != '-' && first != '+' && first != '.') {
    return json::value(text);
  }
  std::string bare(text);
  std::erase(bare, '_');
  if (const auto whole = Integer(bare)) return *whole;
  if (const auto number = Float(bare)) return *number;
  return json::value(text);
}

base::Result<json::value> TaggedScalar(std::string_view tag, std::string_view text) {
  constexpr std::string_view kCore = "tag:yaml.org,2002:";
  const auto refuse = [](std::string what) {
    return base::Fail(base::Kind::kInvalid, kSyntaxId, "", std::move(what));
  };
  if (tag == "!") return json::value(text);
  if (!tag.empty() && tag != "?") {
    if (!tag.starts_with(kCore)) return refuse(fmt::format("unknown tag {}", tag));
    tag.remove_prefix(kCore.size());
    if (tag == "str") return json::value(text);
    json::value value = PlainScalar(text);
    if (tag == "float" && value.is_int64()) return value;
    const bool fits = (tag == "int" && (value.is_int64() || value.is_uint64())) ||
                      (tag == "float" && value.is_double()) || (tag == "bool" && value.is_bool()) ||
                      (tag == "null" && value.is_null());
    if (!fits) return refuse(fmt::format("\"{}\" is no !!{}", text, tag));
    return value;
  }
  if (NotFinite(text)) return refuse(fmt::format("{} has no form in JSON", text));
  return PlainScalar(text);
}

base::Result<std::string> KeyOf(const json::value& scalar) {
  if (scalar.is_string()) return std::string(scalar.get_string());
  if (scalar.is_bool() || scalar.is_number()) return json::serialize(scalar);
  return base::Fail(base::Kind::kInvalid, kSyntaxId, "",
                    fmt::format("{} cannot be a key", Shown(scalar)));
}

}  // namespace pondage::manifest
