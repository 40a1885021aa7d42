#include <fmt/core.h>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::cmd {

base::Result<int> BackupMain(Context& context) {
  TRY(client::Client * client, context.Server());
  const std::string path = Absolute(context.line().words[0]);
  TRY(const json::value made, client->Post("/pondage/v1/backup", json::object{{"path", path}}));
  const auto size = client::Number(made, {"sizeBytes"});
  context.Print(fmt::format("{}{}\n", path, size ? "  " + terminal::SizeText({*size}) : ""));
  return terminal::kDone;
}

}  // namespace pondage::cmd
