// stop, suspend and resume.
#include <fmt/core.h>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "session/waiting.h"
#include "terminal/progress.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Kind;

base::Result<void> SetSuspend(client::Client& client, const std::string& space,
                              const std::string& name, bool suspend) {
  const json::value patch = {{"spec", {{"runPolicy", {{"suspend", suspend}}}}}};
  TRY_DO(client.MergePatch(client::TfJobPath(space, name), patch));
  return {};
}

// The Pods of the job are asked again with a shorter time to leave.
base::Result<void> Hurry(client::Client& client, const std::string& space, const std::string& name,
                         base::Millis grace) {
  TRY(const auto pods,
      client::ListAll(client, client::PodPath(space) + "?" + client::PodsOfJob(name)));
  const json::value options = {{"gracePeriodSeconds", grace.value / 1000}};
  for (const json::value& pod : pods) {
    auto asked =
        client.Delete(client::PodPath(space, client::Text(pod, {"metadata", "name"})), options);
    if (!asked && asked.error().kind != Kind::kNotFound) return std::unexpected(asked.error());
  }
  return {};
}

std::string EndedText(const view::JobView& job, const terminal::Screen& screen) {
  std::string text = fmt::format("{} {}", job.name, view::StateWord(job.state, screen.language));
  if (job.saved) {
    text += job.saved_step >= 0
                ? fmt::format(fmt::runtime(screen.Pick(", saved at step {}", ", 已保存到第 {} 步")),
                              job.saved_step)
                : fmt::format(
                      fmt::runtime(screen.Pick(", last saved {} ago", ", 最近一次保存在 {} 前")),
                      terminal::ShortAge(terminal::Now() - *job.saved));
  }
  return text + "\n";
}

}  // namespace

base::Result<int> StopMain(Context& context) {
  const grammar::Invocation& line = context.line();
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  TRY(const auto limit, line.Length("timeout"));
  TRY(auto grace, line.Length("grace"));
  if (line.Has("now")) grace = base::Millis{0};
  std::vector<std::string> asked;
  for (const std::string& name : line.words) {
    TRY(const json::value object, client->Get(client::TfJobPath(space, name)));
    const view::JobView job = view::ViewJob(object);
    if (view::IsEnd(job.state)) {
      context.Print(EndedText(job, context.screen()));
      continue;
    }
    TRY_DO(SetSuspend(*client, space, name, true));
    if (grace) TRY_DO(Hurry(*client, space, name, *grace));
    asked.push_back(name);
  }
  terminal::Progress progress(context.screen());
  for (const std::string& name : asked) {
    TRY(const auto job,
        session::WaitUntil(
            *client, space, name,
            [&](const view::JobView& view) {
              progress.Show(fmt::format("{} {}  {}", view.name,
                                        view::StateWord(view.state, context.screen().language),
                                        view::ReasonText(view, context.screen(), terminal::Now())));
              return view.state == view::JobState::kStopped || view::IsEnd(view.state);
            },
            limit));
    progress.Clear();
    if (job) {
      context.Print(EndedText(*job, context.screen()));
    } else {
      context.Print(fmt::format("{} {}\n", name, context.screen().Pick("deleted", "已删除")));
    }
  }
  return terminal::kDone;
}

base::Result<int> SuspendMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  for (const std::string& name : context.line().words) {
    TRY_DO(SetSuspend(*client, space, name, true));
    context.Print(fmt::format(
        "{} {}\n", name, context.screen().Pick("asked to save and leave", "已请求保存并停止")));
  }
  return terminal::kDone;
}

base::Result<int> ResumeMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  for (const std::string& name : context.line().words) {
    TRY_DO(SetSuspend(*client, space, name, false));
    context.Print(
        fmt::format("{} {}\n", name, context.screen().Pick("back in its queue", "已回到队列")));
  }
  return terminal::kDone;
}

}  // namespace pondage::cmd
