#include "client/apply.h"

#include <fmt/core.h>

#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "session/follow.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

const char* DidWord(const terminal::Screen& screen, std::string_view did) {
  if (did == "created") return screen.Pick("created", "已创建");
  if (did == "changed") return screen.Pick("changed", "已修改");
  return screen.Pick("unchanged", "无变化");
}

}  // namespace

base::Result<int> ApplyMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (!line.Has("filename")) {
    return Fail(Kind::kInvalid, "PND-C002", "", "apply needs -f FILE (- is stdin)");
  }
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::string followed;
  std::string followed_space = space;
  for (const std::string& file : line.Values("filename")) {
    TRY(auto objects, client::ReadManifests(file));
    for (json::object& object : objects) {
      const bool is_job = client::Text(object, {"kind"}) == "TFJob";
      const std::string name = client::Text(object, {"metadata", "name"});
      const std::string own_space = client::Text(object, {"metadata", "namespace"});
      TRY(const client::Applied applied,
          client::ApplyObject(*client, std::move(object), space, line.Has("dry-run")));
      context.NoteWarnings();
      if (is_job && followed.empty()) {
        followed = name;
        if (!own_space.empty()) followed_space = own_space;
      }
      if (context.screen().format == terminal::Format::kName) {
        context.Print(applied.what + "\n");
      } else if (context.screen().format == terminal::Format::kJson) {
        context.Print(
            json::serialize(json::object{{"name", applied.what}, {"result", applied.did}}) + "\n");
      } else {
        context.Print(
            fmt::format("{} {}{}\n", applied.what, DidWord(context.screen(), applied.did),
                        line.Has("dry-run") ? context.screen().Pick(" (dry run)", " (演练)") : ""));
      }
    }
  }
  if (!line.Has("follow") || line.Has("dry-run") || followed.empty()) return terminal::kDone;
  return session::FollowJob(*client, context.screen(), followed_space, followed);
}

}  // namespace pondage::cmd
