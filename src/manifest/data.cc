#include "manifest/data.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>

#include "manifest/object.h"

namespace pondage::manifest {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kLetters[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}
std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::string_view letters = text.substr(0, text.size() - padding);
  std::string bytes;
  unsigned bits = 0;
  int held = 0;
  for (const char letter : letters) {
    const auto value = kLetters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<unsigned>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>((bits >> held) & 0xff));
  }
  return bytes;
}

std::optional<std::map<std::string, std::string>> DataOfObject(std::string_view body) {
  const auto parsed = ParseJson(body);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const boost::json::object& object = parsed->get_object();
  const auto* kind = object.if_contains("kind");
  const bool is_secret = kind != nullptr && kind->is_string() && kind->get_string() == "Secret";
  std::map<std::string, std::string> data;
  for (const char* member : {"data", "binaryData"}) {
    const auto* values = object.if_contains(member);
    if (values == nullptr || !values->is_object()) continue;
    const bool encoded = is_secret || std::string_view(member) == "binaryData";
    for (const auto& entry : values->get_object()) {
      if (!entry.value().is_string()) return std::nullopt;
      std::string text(entry.value().get_string());
      if (encoded) {
        auto bytes = FromBase64(text);
        if (!bytes) return std::nullopt;
        text = std::move(*bytes);
      }
      data.emplace(entry.key(), std::move(text));
    }
  }
  return data;
}

}  // namespace pondage::manifest
