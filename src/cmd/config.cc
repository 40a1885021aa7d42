#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

base::Result<int> ShowConfig(Context& context) {
  const terminal::Screen& screen = context.screen();
  terminal::Listing listing;
  listing.schema = "pondage.config/1";
  listing.table.headings = {screen.Pick("KEY", "键"), screen.Word("VALUE")};
  const bool origin = context.line().Has("origin");
  if (origin) listing.table.headings.emplace_back(screen.Pick("FROM", "来源"));
  const auto add = [&](const std::string& key, const std::string& value, const std::string& from) {
    listing.items.push_back(json::object{{"name", key}, {"value", value}, {"origin", from}});
    std::vector<terminal::Cell> row{{key}, {value}};
    if (origin) row.push_back({from});
    listing.table.rows.push_back(std::move(row));
  };
  for (const auto& [key, setting] : context.settings().all())
    add(key, setting.value, setting.origin);
  // Where the server is found to be is what people want to know most.
  if (auto client = context.Server(); client) {
    add("(server)", (*client)->place().Url(), (*client)->place().origin);
  } else {
    add("(server)", "-", terminal::Split(client.error().message, '\n')[0]);
  }
  context.Print(terminal::Render(listing, screen, terminal::Now()));
  return terminal::kDone;
}

base::Result<int> SetConfig(Context& context) {
  const auto& words = context.line().words;
  std::map<std::string, std::string> changes;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) {
      return Fail(Kind::kInvalid, "PND-C002", "", fmt::format("\"{}\" is not KEY=VALUE", words[i]));
    }
    const std::string key = words[i].substr(0, equals);
    const std::string value = words[i].substr(equals + 1);
    TRY_DO(grammar::CheckSetting(key, value));
    changes[key] = value;
  }
  if (changes.empty()) return std::unexpected(context.Misused());
  const std::string path = client::UserSettingsPath(context.around());
  TRY(const std::string text,
      client::WithSettings(client::ReadWholeFile(path).value_or(""), changes));
  std::error_code error;
  std::filesystem::create_directories(client::ConfigFolder(context.around()), error);
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("cannot write {}", fresh));
  std::filesystem::rename(fresh, path, error);
  if (error)
    return Fail(Kind::kInvalid, "PND-C010", "",
                fmt::format("cannot write {}: {}", path, error.message()));
  return terminal::kDone;
}

}  // namespace

base::Result<int> ConfigMain(Context& context) {
  const auto& words = context.line().words;
  const std::string verb = words.empty() ? "show" : words[0];
  if (verb == "set") return SetConfig(context);
  if (verb == "path") {
    context.Print(client::UserSettingsPath(context.around()) + "\n");
    return terminal::kDone;
  }
  return ShowConfig(context);
}

}  // namespace pondage::cmd
