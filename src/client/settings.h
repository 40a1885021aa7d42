// The settings of this command: flag > environment > the user's file > the system's file. Each file
// holds lines `key: value`.
//
// Values; read once at the start.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/kubeconfig.h"
#include "terminal/screen.h"

namespace pondage::client {

struct Setting {
  std::string value;
  std::string origin;  // "PONDAGE_LANG", "/etc/pondage/config"
};

class Settings {
 public:
  static base::Result<Settings> Load(const terminal::Surroundings& around, const ReadFile& read);

  std::string Value(std::string_view key) const;  // empty when nobody set it
  const std::map<std::string, Setting, std::less<>>& all() const { return all_; }

 private:
  std::map<std::string, Setting, std::less<>> all_;
};

// The keys there are.
std::span<const std::string_view> SettingKeys();
// Where the user's own file is.
std::string UserSettingsPath(const terminal::Surroundings& around);
// `text` with these keys set (an empty value takes the line away), everything else as it was.
base::Result<std::string> WithSettings(std::string_view text,
                                       const std::map<std::string, std::string>& changes);

}  // namespace pondage::client
