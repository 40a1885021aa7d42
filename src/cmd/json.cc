#include "cmd/json.h"

#include <fmt/core.h>

#include <cctype>

#include "cmd/text.h"

namespace pondage::cmd {

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
  return text.empty() ? std::nullopt : ParseRfc3339(text);
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

namespace {

constexpr int kDeepest = 100;

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  constexpr std::string_view kSpecial = "-?:,[]{}#&*!|>'\"%@`~=";
  if (kSpecial.find(text.front()) != std::string_view::npos) return true;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) {
    return true;
  }
  // Whatever some reader of YAML might take for a number, a date, a truth or nothing.
  if (std::isdigit(static_cast<unsigned char>(text.front())) != 0 || text.front() == '.' ||
      text.front() == '+') {
    return true;
  }
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word :
       {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
    if (lower == word) return true;
  }
  return false;
}

std::string Scalar(const json::value& value) {
  const json::string* text = value.if_string();
  if (text == nullptr || NeedsQuotes(*text)) return json::serialize(value);
  return std::string(*text);
}

std::string KeyText(std::string_view key) {
  return NeedsQuotes(key) ? json::serialize(json::string(key)) : std::string(key);
}

bool IsBlock(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

void WriteYaml(std::string& out, const json::value& value, int depth, bool in_line) {
  const auto indent = [&](int levels) {
    if (in_line) {
      in_line = false;
    } else {
      out.append(static_cast<std::size_t>(levels) * 2, ' ');
    }
  };
  if (!IsBlock(value) || depth > kDeepest) {
    indent(depth);
    out += Scalar(value) + "\n";
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.get_object()) {
      indent(depth);
      out += KeyText(key) + ":";
      if (!IsBlock(member)) {
        out += " " + Scalar(member) + "\n";
      } else {
        out += "\n";
        // Lists stand in the column of their key, as people write them.
        WriteYaml(out, member, member.is_array() ? depth : depth + 1, false);
      }
    }
  } else {
    for (const json::value& item : value.get_array()) {
      indent(depth);
      out += "- ";
      WriteYaml(out, item, depth + 1, true);
    }
  }
}

void WritePretty(std::string& out, const json::value& value, int depth) {
  const auto line = [&](int levels) {
    out += "\n";
    out.append(static_cast<std::size_t>(levels) * 2, ' ');
  };
  if (!IsBlock(value) || depth > kDeepest) {
    out += json::serialize(value);
    return;
  }
  bool first = true;
  if (value.is_object()) {
    out += "{";
    for (const auto& [key, member] : value.get_object()) {
      if (!first) out += ",";
      first = false;
      line(depth + 1);
      out += json::serialize(json::string(key)) + ": ";
      WritePretty(out, member, depth + 1);
    }
    line(depth);
    out += "}";
    return;
  }
  out += "[";
  for (const json::value& item : value.get_array()) {
    if (!first) out += ",";
    first = false;
    line(depth + 1);
    WritePretty(out, item, depth + 1);
  }
  line(depth);
  out += "]";
}

}  // namespace

std::string ToYaml(const json::value& value) {
  std::string out;
  WriteYaml(out, value, 0, false);
  return out;
}

std::string ToPrettyJson(const json::value& value) {
  std::string out;
  WritePretty(out, value, 0);
  return out + "\n";
}

}  // namespace pondage::cmd
