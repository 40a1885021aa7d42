#include "manifest/expand.h"

namespace pondage::manifest {

const std::string* Variables::Find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &list_[found->second].second;
}

void Variables::Set(const std::string& name, std::string value) {
  bytes_ += value.size();
  const auto [place, fresh] = places_.try_emplace(name, list_.size());
  if (fresh) {
    bytes_ += name.size() + 2;  // '=' and the zero byte
    list_.emplace_back(name, std::move(value));
  } else {
    bytes_ -= list_[place->second].second.size();
    list_[place->second].second = std::move(value);
  }
}

std::optional<std::string> Expand(std::string_view text, const Variables& variables) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (out.size() >= kMostWordBytes) return std::nullopt;
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    const auto end = text[i + 1] == '(' ? text.find(')', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += '$';
      continue;
    }
    if (const std::string* value = variables.Find(text.substr(i + 2, end - i - 2))) {
      out += *value;
    } else {
      out += text.substr(i, end - i + 1);
    }
    i = end;
  }
  if (out.size() >= kMostWordBytes) return std::nullopt;
  return out;
}

}  // namespace pondage::manifest
