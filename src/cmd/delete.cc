#include <fmt/core.h>

#include "client/kube.h"
#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/ask.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

base::Result<void> DeleteOne(Context& context, client::Client& client, const std::string& list_path,
                             const std::string& name, const std::string& shown) {
  json::object options{{"propagationPolicy", "Background"}};
  if (context.line().Has("now")) options["gracePeriodSeconds"] = 0;
  TRY_DO(client.Delete(list_path + "/" + client::PercentEncode(name), options));
  context.Print(fmt::format("{} {}\n", shown, context.screen().Pick("deleted", "已删除")));
  return {};
}

}  // namespace

base::Result<int> DeleteMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (line.words.empty() && !line.Has("filename")) {
    return Fail(Kind::kInvalid, "PND-C002", "", "delete needs names of jobs, or -f FILE");
  }
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::vector<std::string> running;
  for (const std::string& name : line.words) {
    TRY(const json::value object, client->Get(client::TfJobPath(space, name)));
    const view::JobView job = view::ViewJob(object);
    if (job.state == view::JobState::kRunning || job.state == view::JobState::kStarting)
      running.push_back(name);
  }
  if (!running.empty() && !line.Has("yes")) {
    TRY(const bool sure, terminal::Ask(context.screen(),
                                       fmt::format(fmt::runtime(context.screen().Pick(
                                                       "{} is running; delete it with its logs?",
                                                       "{} 正在运行; 连同日志一起删除?")),
                                                   terminal::Join(running, ", ")),
                                       false));
    if (!sure) return terminal::kNegative;
  }
  for (const std::string& name : line.words) {
    TRY_DO(DeleteOne(context, *client, client::TfJobPath(space), name, "tfjob/" + name));
  }
  for (const std::string& file : line.Values("filename")) {
    TRY(const auto objects, client::ReadManifests(file));
    for (const json::object& object : objects) {
      TRY(const client::ObjectPlace place, client::PlaceOf(object, space));
      TRY_DO(DeleteOne(context, *client, place.list_path,
                       client::Text(object, {"metadata", "name"}), place.shown));
    }
  }
  return terminal::kDone;
}

}  // namespace pondage::cmd
