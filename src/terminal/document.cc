#include "terminal/document.h"

#include <cctype>
#include <string_view>

namespace pondage::terminal {
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

}  // namespace pondage::terminal
