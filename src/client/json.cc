#include "client/json.h"

#include <fmt/core.h>

#include "terminal/text.h"

namespace pondage::client {

const json::value* Find(const json::value& object, Path path) {
  const json::value* at = &object;
  for (const std::string_view name : path) {
    const json::object* members = at->if_object();
    at = members == nullptr ? nullptr : members->if_contains(name);
    if (at == nullptr) return nullptr;
  }
  return at->is_null() ? nullptr : at;
}

std::string Text(const json::value& object, Path path) {
  const json::value* found = Find(object, path);
  if (found == nullptr) return {};
  if (const json::string* text = found->if_string()) return std::string(*text);
  if (found->is_object() || found->is_array()) return {};
  return json::serialize(*found);
}

std::optional<std::int64_t> Number(const json::value& object, Path path) {
  const json::value* found = Find(object, path);
  if (found == nullptr) return std::nullopt;
  if (const auto* number = found->if_int64()) return *number;
  if (const auto* number = found->if_uint64()) return static_cast<std::int64_t>(*number);
  if (const auto* number = found->if_double()) return static_cast<std::int64_t>(*number);
  const json::string* text = found->if_string();
  if (text == nullptr || text->empty() || text->size() > 18) return std::nullopt;
  char* end = nullptr;
  const std::int64_t number = std::strtoll(text->c_str(), &end, 10);
  return *end == '\0' ? std::optional(number) : std::nullopt;
}

std::int64_t NumberOr(const json::value& object, Path path, std::int64_t otherwise) {
  return Number(object, path).value_or(otherwise);
}

bool IsTrue(const json::value& object, Path path) {
  const json::value* found = Find(object, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::optional<base::Instant> Time(const json::value& object, Path path) {
  const std::string text = Text(object, path);
  return text.empty() ? std::nullopt : terminal::ParseRfc3339(text);
}

const json::array& Items(const json::value& object, Path path) {
  static const json::array kNone;
  const json::value* found = Find(object, path);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

const json::object& Members(const json::value& object, Path path) {
  static const json::object kNone;
  const json::value* found = Find(object, path);
  return found != nullptr && found->is_object() ? found->get_object() : kNone;
}

base::Result<json::value> ParseReply(std::string_view text, std::string_view what) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) {
    return base::Fail(base::Kind::kCorrupt, "PND-C012", std::string(what),
                      fmt::format("the server's answer is not JSON: {}", error.message()));
  }
  return value;
}

}  // namespace pondage::client
