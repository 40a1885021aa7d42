// stop, suspend and resume.
#include <fmt/core.h>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "session/waiting.h"
#include "terminal/ask.h"
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
    text += job.saved_since_asked && job.saved_step >= 0
                ? fmt::format(fmt::runtime(screen.Pick(", saved at step {}", ", 已保存到第 {} 步")),
                              job.saved_step)
                : fmt::format(
                      fmt::runtime(screen.Pick(", last saved {} ago", ", 最近一次保存在 {} 前")),
                      terminal::ShortAge(terminal::Now() - *job.saved));
  }
  return text + "\n";
}

// What is shown while the job saves, with the way to have it sooner.
std::string WaitingText(const view::JobView& job, bool can_hurry, const terminal::Screen& screen) {
  std::string text = fmt::format("{} {}  {}", job.name, view::StateWord(job.state, screen.language),
                                 view::ReasonText(job, screen, terminal::Now()));
  if (can_hurry && job.deadline)
    text += fmt::format(fmt::runtime(screen.Pick("; without saving: pondage stop --now {}",
                                                 "; 不保存: pondage stop --now {}")),
                        job.name);
  return text;
}

// Of what has ended nothing can be asked any more: PND-C024 names all of them.
base::Result<int> UnlessEnded(const std::vector<view::JobView>& ended,
                              const terminal::Screen& screen) {
  if (ended.empty()) return terminal::kDone;
  std::vector<std::string> lines;
  for (const view::JobView& job : ended) {
    lines.push_back(
        fmt::format(fmt::runtime(screen.Pick("job {} has finished: it {}", "作业 {} 已结束: {}")),
                    job.name, view::StateWord(job.state, screen.language)));
  }
  return base::Fail(Kind::kInvalid, "PND-C024", ended[0].name, terminal::Join(lines, "\n"));
}

// Asked on a terminal alone: of one that runs and was not seen to save, what it did is lost.
base::Result<bool> IsSure(const view::JobView& job, const terminal::Screen& screen) {
  if (!screen.in_is_terminal || job.state != view::JobState::kRunning || job.saved) return true;
  return terminal::Ask(
      screen,
      fmt::format(fmt::runtime(screen.Pick(
                      "{} was not seen to save a checkpoint: what it did may be lost. Stop it?",
                      "未见 {} 保存过检查点: 其进度可能丢失。停止它?")),
                  job.name),
      false);
}

// suspend and resume: nothing is waited for.
base::Result<int> SetAll(Context& context, bool suspend, const char* did) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::vector<view::JobView> ended;
  for (const std::string& name : context.line().words) {
    TRY(const json::value object, client->Get(client::TfJobPath(space, name)));
    view::JobView job = view::ViewJob(object);
    if (view::IsEnd(job.state)) {
      ended.push_back(std::move(job));
      continue;
    }
    TRY_DO(SetSuspend(*client, space, name, suspend));
    context.Print(fmt::format("{} {}\n", name, did));
  }
  return UnlessEnded(ended, context.screen());
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
  std::vector<view::JobView> ended;
  for (const std::string& name : line.words) {
    TRY(const json::value object, client->Get(client::TfJobPath(space, name)));
    view::JobView job = view::ViewJob(object);
    if (view::IsEnd(job.state)) {
      ended.push_back(std::move(job));
      continue;
    }
    if (!line.Has("yes")) {
      TRY(const bool sure, IsSure(job, context.screen()));
      if (!sure) return terminal::kNegative;
    }
    asked.push_back(name);
  }
  for (const std::string& name : asked) {
    TRY_DO(SetSuspend(*client, space, name, true));
    if (grace) TRY_DO(Hurry(*client, space, name, *grace));
  }
  terminal::Progress progress(context.screen());
  for (const std::string& name : asked) {
    TRY(const auto job, session::WaitUntil(
                            *client, space, name,
                            [&](const view::JobView& view) {
                              progress.Show(WaitingText(view, !line.Has("now"), context.screen()));
                              return view.state == view::JobState::kStopped ||
                                     view::IsEnd(view.state);
                            },
                            limit));
    progress.Clear();
    if (job) {
      context.Print(EndedText(*job, context.screen()));
    } else {
      context.Print(fmt::format("{} {}\n", name, context.screen().Pick("deleted", "已删除")));
    }
  }
  return UnlessEnded(ended, context.screen());
}

base::Result<int> SuspendMain(Context& context) {
  return SetAll(context, true,
                context.screen().Pick("asked to save and leave", "已请求保存并停止"));
}

base::Result<int> ResumeMain(Context& context) {
  return SetAll(context, false, context.screen().Pick("back in its queue", "已回到队列"));
}

}  // namespace pondage::cmd
