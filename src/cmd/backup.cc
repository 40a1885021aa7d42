#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/trouble.h"

namespace pondage::cmd {

base::Result<int> BackupMain(Context& context) {
  TRY(client::Client * client, context.Server());
  const std::string path = Absolute(context.line().words[0]);
  TRY_DO(client->Post("/pondage/v1/backup", json::object{{"path", path}}));
  context.Print(path + "\n");
  return terminal::kDone;
}

}  // namespace pondage::cmd
