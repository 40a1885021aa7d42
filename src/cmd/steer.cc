// wait, stop, suspend and resume.
#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/interrupt.h"
#include "terminal/progress.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

// Watches one job until `enough` says so, in a thread of its own, so that a time limit and Ctrl-C
// end the wait at once.
class Waiting {
 public:
  Waiting(Context& context, client::Client& client, std::string space, std::string name)
      : context_(context), client_(client), space_(std::move(space)), name_(std::move(name)) {}

  using Enough = std::function<bool(const view::JobView&)>;

  // None: the job was deleted.
  base::Result<std::optional<view::JobView>> Until(const Enough& enough,
                                                   std::optional<base::Millis> limit) {
    const auto begun = std::chrono::steady_clock::now();
    std::optional<view::JobView> last;
    bool done = false;
    bool gone = false;
    std::stop_source stop;
    terminal::Interrupt interrupt;
    std::jthread clock([&](std::stop_token ended) {
      while (!ended.stop_requested() && !stop.stop_requested()) {
        const auto passed = std::chrono::steady_clock::now() - begun;
        if (interrupt.Came() || (limit && passed > std::chrono::milliseconds(limit->value))) {
          stop.request_stop();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
    client::Watching watching;
    bool seen = false;
    watching.on_change = [&](const client::Change& change) {
      seen = true;
      gone = change.type == client::Change::Type::kDeleted;
      if (!gone) last = view::ViewJob(change.object);
      done = gone || enough(*last);
      return !done;
    };
    watching.on_listed = [&] {
      if (!seen) gone = true;
      if (!seen) stop.request_stop();
    };
    watching.patience = std::chrono::hours(24);
    auto outcome = client::Watch(client_,
                                 client::TfJobPath(space_) + "?fieldSelector=" +
                                     client::PercentEncode("metadata.name=" + name_),
                                 watching, stop.get_token());
    clock.request_stop();
    if (!outcome) return std::unexpected(outcome.error());
    if (!seen) {
      return Fail(Kind::kNotFound, "PND-C008", "",
                  fmt::format("no job \"{}\" in namespace {}", name_, space_));
    }
    if (gone) return std::optional<view::JobView>();
    if (done) return last;
    if (interrupt.Came()) return Fail(Kind::kUnavailable, "PND-C006", "", "interrupted");
    return Fail(
        Kind::kUnavailable, "PND-C006", "",
        fmt::format("job {} is {} after {}", name_, last ? view::StateName(last->state) : "unknown",
                    terminal::LongAge(*limit)));
  }

 private:
  Context& context_;
  client::Client& client_;
  const std::string space_, name_;
};

}  // namespace

base::Result<int> WaitMain(Context& context) {
  const grammar::Invocation& line = context.line();
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  TRY(const auto limit, line.Length("timeout"));
  const std::string what = line.Value("for", "finished");
  const std::string& name = line.words[0];
  Waiting waiting(context, *client, space, name);
  std::optional<base::Instant> saved_before;
  bool first = true;
  TRY(const auto job, waiting.Until(
                          [&](const view::JobView& view) {
                            if (first) saved_before = view.saved;
                            first = false;
                            if (view::IsEnd(view.state)) return true;
                            if (what == "running") return view.state == view::JobState::kRunning;
                            return what == "checkpoint" && view.saved && view.saved != saved_before;
                          },
                          limit));
  if (!job) {
    return Fail(Kind::kNotFound, "PND-C014", name, fmt::format("job {} was deleted", name));
  }
  if (context.screen().format == terminal::Format::kJson) context.Print(view::RenderJobLine(*job));
  if (line.Has("exit-status") && view::IsEnd(job->state)) {
    if (job->exit_code && (job->state == view::JobState::kSucceeded || *job->exit_code != 0)) {
      return static_cast<int>(*job->exit_code & 0xff);
    }
    return Fail(Kind::kInvalid, "PND-C014", name, fmt::format("{}: {}", name, job->failure));
  }
  if (job->state == view::JobState::kFailed) return terminal::kNegative;
  if (what == "checkpoint" && (!job->saved || job->saved == saved_before))
    return terminal::kNegative;
  return terminal::kDone;
}

namespace {

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
    Waiting waiting(context, *client, space, name);
    TRY(const auto job,
        waiting.Until(
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
