#include "manifest/names.h"

#include <algorithm>

namespace pondage::manifest {

namespace {

bool Lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool Digit(char c) {
  return c >= '0' && c <= '9';
}
bool Alnum(char c) {
  return Lower(c) || Digit(c) || (c >= 'A' && c <= 'Z');
}

// One part between dots: lower case, digits and inner dashes.
bool IsPart(std::string_view text) {
  const auto good = [](char c) { return Lower(c) || Digit(c) || c == '-'; };
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, good);
}

// The form of label names and values.
bool IsQualifiedPart(std::string_view text) {
  const auto good = [](char c) { return Alnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= 63 && Alnum(text.front()) && Alnum(text.back()) &&
         std::ranges::all_of(text, good);
}

}  // namespace

bool IsDns1123Label(std::string_view text) {
  return text.size() <= 63 && IsPart(text);
}

bool IsDns1123Subdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const auto dot = text.find('.');
    if (!IsPart(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsDns1035Label(std::string_view text) {
  return IsDns1123Label(text) && Lower(text.front());
}

bool IsLabelKey(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return IsQualifiedPart(text);
  return IsDns1123Subdomain(text.substr(0, slash)) && IsQualifiedPart(text.substr(slash + 1));
}

bool IsLabelValue(std::string_view text) {
  return text.empty() || IsQualifiedPart(text);
}

bool IsEnvName(std::string_view text) {
  const auto good = [](char c) { return c >= ' ' && c <= '~' && c != '='; };
  return !text.empty() && std::ranges::all_of(text, good);
}

bool IsDataKey(std::string_view text) {
  const auto good = [](char c) { return Alnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= 253 && text != "." && text != ".." &&
         std::ranges::all_of(text, good);
}

}  // namespace pondage::manifest
