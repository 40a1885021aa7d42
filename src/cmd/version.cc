#include <fmt/core.h>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
base::Result<int> VersionMain(Context& context) {
  const terminal::Screen& screen = context.screen();
  json::object item{{"name", "pondage"}, {"client", PONDAGE_VERSION}, {"license", "Apache-2.0"}};
  std::string text = fmt::format("client  {}\n", PONDAGE_VERSION);
  if (!context.line().Has("client")) {
    auto client = context.Server();
    auto version = client ? (*client)->Get("/version")
                          : base::Result<json::value>(std::unexpected(client.error()));
    item["server"] = nullptr;
    item["api"] = nullptr;
    if (version) {
      auto info = (*client)->Get("/pondage/v1/info");
      const std::string server = info ? client::Text(*info, {"version"}) : "";
      item["server"] = server.empty() ? json::value(nullptr) : json::value(server);
      item["api"] = client::Text(*version, {"gitVersion"});
      text += fmt::format("server  {}  {}\napi     {}\n", server.empty() ? "?" : server,
                          (*client)->place().Url(), client::Text(*version, {"gitVersion"}));
    } else {
      text += fmt::format("server  -  ({})\n", terminal::Split(version.error().message, '\n')[0]);
    }
  }
  text += "license Apache-2.0\n";
  if (screen.format == terminal::Format::kTable || screen.format == terminal::Format::kWide) {
    context.Print(text);
  } else {
    terminal::Listing listing;
    listing.schema = "pondage.version/1";
    listing.items.push_back(std::move(item));
    context.Print(terminal::Render(listing, screen, terminal::Now()));
  }
  return terminal::kDone;
}

}  // namespace pondage::cmd
