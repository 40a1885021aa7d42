#include <fmt/core.h>

#include <algorithm>
#include <utility>

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

// What is gone for good with the jobs, beside their logs.
struct Loss {
  std::vector<std::string> running;
  std::vector<std::string> copies;  // working copies: where they wrote what they made
};

// What a manifest names.
struct Listed {
  client::ObjectPlace place;
  std::string name;
  bool is_job = false;
};

base::Result<std::vector<Listed>> ListedIn(const std::vector<std::string>& files,
                                           const std::string& space) {
  std::vector<Listed> listed;
  for (const std::string& file : files) {
    TRY(const auto objects, client::ReadManifests(file));
    for (const json::object& object : objects) {
      TRY(client::ObjectPlace place, client::PlaceOf(object, space));
      listed.push_back({std::move(place), client::Text(object, {"metadata", "name"}),
                        client::Text(object, {"kind"}) == "TFJob"});
    }
  }
  return listed;
}

void AddLoss(const json::value& object, Loss& loss) {
  const view::JobView job = view::ViewJob(object);
  if (job.state == view::JobState::kRunning || job.state == view::JobState::kStarting)
    loss.running.push_back(job.name);
  if (!job.work_copy.empty()) loss.copies.push_back(job.work_copy);
}

base::Result<Loss> LossOf(const std::vector<std::string>& names, const std::vector<Listed>& listed,
                          const std::string& space, client::Client& client) {
  Loss loss;
  for (const std::string& name : names) {
    TRY(const json::value object, client.Get(client::TfJobPath(space, name)));
    AddLoss(object, loss);
  }
  for (const Listed& each : listed) {
    if (!each.is_job) continue;
    const auto object = client.Get(each.place.list_path + "/" + client::PercentEncode(each.name));
    if (object) AddLoss(*object, loss);  // one that is not there is told of when it is deleted
  }
  return loss;
}

// Those that ended at least `age` ago, oldest first.
base::Result<std::vector<std::string>> FinishedJobs(client::Client& client,
                                                    const std::string& space, base::Millis age) {
  TRY(const auto objects, client::ListAll(client, client::TfJobPath(space)));
  const base::Instant before = terminal::Now() - age;
  std::vector<std::pair<base::Instant, std::string>> found;
  for (const json::value& object : objects) {
    const view::JobView job = view::ViewJob(object);
    const base::Instant ended = job.ended.value_or(job.created);
    if (view::IsEnd(job.state) && ended <= before) found.emplace_back(ended, job.name);
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (auto& [ended, name] : found) names.push_back(std::move(name));
  return names;
}

std::string QuestionOf(std::size_t jobs, const Loss& loss, const terminal::Screen& screen) {
  std::string question;
  if (jobs > 1) question = fmt::format(fmt::runtime(screen.Pick("{} jobs. ", "{} 个作业。")), jobs);
  if (!loss.running.empty()) {
    question += fmt::format(fmt::runtime(screen.Pick("{} is running. ", "{} 正在运行。")),
                            terminal::Join(loss.running, ", "));
  }
  if (!loss.copies.empty()) {
    question += fmt::format(
        fmt::runtime(screen.Pick("What was written to {} goes too. ", "{} 中写入的内容也将删除。")),
        terminal::Join(loss.copies, ", "));
  }
  return question + std::string(screen.Pick("Delete with the logs?", "连同日志一起删除?"));
}

}  // namespace

base::Result<int> DeleteMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (line.words.empty() && !line.Has("filename") && !line.Has("finished")) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                "delete needs names of jobs, -f FILE or --finished");
  }
  if (line.Has("older-than") && !line.Has("finished"))
    return Fail(Kind::kInvalid, "PND-C002", "", "--older-than goes with --finished");
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::vector<std::string> names = line.words;
  if (line.Has("finished")) {
    TRY(const auto older, line.Length("older-than"));
    TRY(auto finished, FinishedJobs(*client, space, older.value_or(base::Millis{0})));
    if (finished.empty())
      context.Print(context.screen().Pick("no such job has ended\n", "没有这样的已结束作业\n"));
    std::erase_if(finished, [&](const std::string& name) {
      return std::ranges::find(names, name) != names.end();  // that was typed, too
    });
    names.insert(names.end(), finished.begin(), finished.end());
  }
  TRY(const auto listed, ListedIn(line.Values("filename"), space));
  TRY(const Loss loss, LossOf(names, listed, space, *client));
  // Finished jobs are deleted by scripts, too: there is nobody to ask.
  const bool many = names.size() > line.words.size();  // not typed one by one
  const bool asks =
      !loss.running.empty() || ((many || !loss.copies.empty()) && context.screen().in_is_terminal);
  if (asks && !line.Has("yes")) {
    TRY(const bool sure,
        terminal::Ask(context.screen(),
                      QuestionOf(names.size() + listed.size(), loss, context.screen()), false));
    if (!sure) return terminal::kNegative;
  }
  for (const std::string& name : names) {
    TRY_DO(DeleteOne(context, *client, client::TfJobPath(space), name, "tfjob/" + name));
  }
  for (const Listed& each : listed)
    TRY_DO(DeleteOne(context, *client, each.place.list_path, each.name, each.place.shown));
  return terminal::kDone;
}

}  // namespace pondage::cmd
