#include "client/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "terminal/text.h"

namespace pondage::client {
namespace {

constexpr std::array<std::string_view, 7> kKeys{"server", "kubeconfig", "namespace", "lang",
                                                "color",  "output",     "queue"};
constexpr const char* kSystemPath = "/etc/pondage/config";

std::string Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

// Key and value of a line; an empty key for comments and empty lines.
base::Result<std::pair<std::string, std::string>> ReadLine(std::string_view line) {
  const std::string text = Trim(line);
  if (text.empty() || text.front() == '#') return std::pair<std::string, std::string>();
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return base::Fail(base::Kind::kInvalid, "PND-C010", "",
                      fmt::format("\"{}\" is not a line `key: value`", text));
  }
  std::string value = Trim(std::string_view(text).substr(colon + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return std::pair(Trim(std::string_view(text).substr(0, colon)), value);
}

base::Result<void> CheckKey(const std::string& key) {
  if (std::ranges::find(kKeys, key) != kKeys.end()) return {};
  std::vector<std::string> names(kKeys.begin(), kKeys.end());
  return base::Fail(
      base::Kind::kInvalid, "PND-C002", "",
      fmt::format("no setting \"{}\"; there are {}", key, terminal::Join(names, ", ")));
}

}  // namespace

std::span<const std::string_view> SettingKeys() {
  return kKeys;
}

std::string UserSettingsPath(const terminal::Surroundings& around) {
  return ConfigFolder(around) + "/config";
}

base::Result<Settings> Settings::Load(const terminal::Surroundings& around, const ReadFile& read) {
  Settings settings;
  for (const std::string& path : {std::string(kSystemPath), UserSettingsPath(around)}) {
    const auto text = read(path);
    if (!text) continue;
    for (const std::string& line : terminal::Split(*text, '\n')) {
      auto entry = ReadLine(line);
      if (entry && !entry->first.empty()) {
        if (auto known = CheckKey(entry->first); !known) entry = std::unexpected(known.error());
      }
      if (!entry) {
        base::Error error = entry.error();
        error.message += "\nin " + path;
        return std::unexpected(std::move(error));
      }
      if (!entry->first.empty()) settings.all_[entry->first] = {entry->second, path};
    }
  }
  for (const std::string_view key : kKeys) {
    std::string variable = "PONDAGE_";
    for (const char c : key) variable += static_cast<char>(c - 'a' + 'A');
    if (std::string value = around.Variable(variable); !value.empty()) {
      settings.all_[std::string(key)] = {std::move(value), variable};
    }
  }
  return settings;
}

std::string Settings::Value(std::string_view key) const {
  const auto found = all_.find(key);
  return found == all_.end() ? std::string() : found->second.value;
}

base::Result<std::string> WithSettings(std::string_view text,
                                       const std::map<std::string, std::string>& changes) {
  std::map<std::string, std::string> left = changes;
  for (const auto& [key, value] : changes) {
    TRY_DO(CheckKey(key));
    if (value.find('\n') != std::string::npos) {
      return base::Fail(base::Kind::kInvalid, "PND-C002", "", "a setting is one line");
    }
  }
  std::string out;
  auto lines = terminal::Split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (const std::string& line : lines) {
    const auto entry = ReadLine(line);
    const auto change = entry ? left.find(entry->first) : left.end();
    if (change == left.end()) {
      out += line + "\n";
      continue;
    }
    if (!change->second.empty()) out += change->first + ": " + change->second + "\n";
    left.erase(change);
  }
  for (const auto& [key, value] : left) {
    if (!value.empty()) out += key + ": " + value + "\n";
  }
  return out;
}

}  // namespace pondage::client
