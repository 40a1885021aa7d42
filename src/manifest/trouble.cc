#include "manifest/trouble.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/assert.h"

namespace pondage::manifest {

namespace json = boost::json;

void Trouble::Say(std::string_view path, std::string_view what) {
  if (error_) return;
  std::string message = path.empty() ? std::string(what) : fmt::format("{}: {}", path, what);
  error_ = base::Error{base::Kind::kInvalid, kTypeId, "", std::move(message)};
}

std::unexpected<base::Error> Trouble::Fail() const {
  REQUIRE(Any());
  return std::unexpected(*error_);
}

Reader::Reader(const json::value* at, std::string path, Trouble& trouble)
    : path_(std::move(path)), trouble_(&trouble) {
  if (at == nullptr || at->is_null()) return;
  object_ = at->if_object();
  if (object_ == nullptr) trouble.Say(path_, fmt::format("must be an object, not {}", Shown(*at)));
}

Reader::Reader(const json::object& object, std::string path, Trouble& trouble)
    : object_(&object), path_(std::move(path)), trouble_(&trouble) {}

const json::value* Reader::Find(std::string_view key) const {
  if (object_ == nullptr) return nullptr;
  const json::value* value = object_->if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string Reader::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void Reader::Wrong(std::string_view key, std::string_view wanted, const json::value& got) const {
  trouble_->Say(PathOf(key), fmt::format("must be {}, not {}", wanted, Shown(got)));
}

std::optional<std::string> Reader::MaybeText(std::string_view key) const {
  const json::value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    Wrong(key, "a string", *value);
    return std::nullopt;
  }
  return std::string(value->get_string());
}

std::string Reader::Text(std::string_view key) const {
  return MaybeText(key).value_or("");
}

bool Reader::Flag(std::string_view key, bool otherwise) const {
  const json::value* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_bool()) return value->get_bool();
  Wrong(key, "true or false", *value);
  return otherwise;
}

std::optional<std::int64_t> Reader::Int(std::string_view key, std::int64_t low,
                                        std::int64_t high) const {
  const json::value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = WholeNumber(*value);
  if (!number) {
    Wrong(key, "a whole number", *value);
    return std::nullopt;
  }
  if (*number < low || *number > high) {
    Wrong(key, fmt::format("between {} and {}", low, high), *value);
    return std::nullopt;
  }
  return number;
}

std::optional<std::int32_t> Reader::Int32(std::string_view key) const {
  using Limits = std::numeric_limits<std::int32_t>;
  const auto number = Int(key, Limits::min(), Limits::max());
  if (!number) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

Reader Reader::Object(std::string_view key) const {
  return Reader(Find(key), PathOf(key), *trouble_);
}

const json::array* Reader::Array(std::string_view key) const {
  const json::value* value = Find(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    Wrong(key, "a list", *value);
    return nullptr;
  }
  return &value->get_array();
}

std::map<std::string, std::string> Reader::Texts(std::string_view key) const {
  std::map<std::string, std::string> texts;
  const Reader map = Object(key);
  if (!map.Present()) return texts;
  for (const auto& [name, value] : *map.raw()) {
    if (value.is_string()) {
      texts.emplace(name, value.get_string());
    } else if (!value.is_null()) {
      map.Wrong(name, "a string", value);
    }
  }
  return texts;
}

std::optional<std::int64_t> WholeNumber(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (!value.is_double()) return std::nullopt;  // uint64 is only used above the range of int64
  constexpr double kExact = 9007199254740992.0;
  const double number = value.get_double();
  if (!(std::fabs(number) <= kExact) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string Shown(const json::value& value) {
  constexpr std::size_t kMost = 80;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_double()) return fmt::format("{}", value.get_double());  // 0.5, not 5E-1
  if (value.is_string() && value.get_string().size() > kMost) {
    return json::serialize(json::string_view(value.get_string()).substr(0, kMost)) + "...";
  }
  return json::serialize(value);
}

}  // namespace pondage::manifest
