#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

struct Filter {
  bool ended = false;  // finished jobs, too
  std::string name, queue, user;

  bool Wants(const view::JobView& job) const {
    if (!name.empty() && job.name != name) return false;
    if (!queue.empty() && job.queue != queue) return false;
    if (!user.empty() && job.user != user) return false;
    return ended || !name.empty() || !view::IsEnd(job.state);
  }
};

std::string StartText(const view::JobView& job, const terminal::Screen& screen, base::Instant now) {
  if (job.state != view::JobState::kWaiting && job.state != view::JobState::kRequeued) return "-";
  if (!job.reason || !job.reason->start_latest) return screen.Pick("unknown", "未知");
  return "~" + terminal::Moment(*job.reason->start_latest, now);
}

std::vector<terminal::Cell> Row(const view::JobView& job, const terminal::Screen& screen,
                                base::Instant now, bool spaces) {
  std::vector<terminal::Cell> row;
  if (spaces) row.push_back({job.space});
  const base::Instant since = view::IsEnd(job.state) ? job.ended.value_or(job.created)
                              : job.state == view::JobState::kRunning
                                  ? job.bound.value_or(job.created)
                                  : job.queued.value_or(job.created);
  row.push_back({job.name});
  row.push_back({job.queue});
  row.push_back({view::StateWord(job.state, screen.language), view::StateTint(job.state)});
  row.push_back({std::to_string(job.gpus)});
  row.push_back({terminal::ShortAge(now - since)});
  row.push_back({StartText(job, screen, now)});
  row.push_back({view::ReasonText(job, screen, now)});
  return row;
}

std::vector<terminal::Cell> WideRow(const view::JobView& job, const terminal::Screen& screen,
                                    base::Instant now, bool spaces) {
  std::vector<terminal::Cell> row = Row(job, screen, now, spaces);
  std::vector<std::string> roles;
  roles.reserve(job.asked.size());
  for (const auto& [role, count] : job.asked) roles.push_back(fmt::format("{}x{}", count, role));
  const std::vector<terminal::Cell> more{{job.user.empty() ? "-" : job.user},
                                         {terminal::Join(roles, "+")},
                                         {std::to_string(job.attempt)},
                                         {std::to_string(job.restarts)},
                                         {job.image}};
  row.insert(row.end() - 1, more.begin(), more.end());
  return row;
}

std::vector<std::string> Headings(const terminal::Screen& screen, bool spaces, bool wide) {
  std::vector<std::string> all;
  if (spaces) all.push_back(screen.Word("NAMESPACE"));
  for (const char* word : {"NAME", "QUEUE", "STATE", "GPUS", "AGE", "START"}) {
    all.push_back(screen.Word(word));
  }
  if (wide) {
    for (const char* word : {"USER", "REPLICAS", "ATTEMPT", "RESTARTS", "IMAGE"}) {
      all.push_back(screen.Word(word));
    }
  }
  all.push_back(screen.Word("REASON"));
  return all;
}

terminal::Listing ListingOf(const std::vector<view::JobView>& jobs, const terminal::Screen& screen,
                            base::Instant now, bool spaces) {
  terminal::Listing listing;
  listing.schema = "pondage.ps/1";
  listing.table.headings = Headings(screen, spaces, false);
  listing.wide.headings = Headings(screen, spaces, true);
  for (const view::JobView& job : jobs) {
    listing.items.push_back(view::JobItem(job, now));
    listing.table.rows.push_back(Row(job, screen, now, spaces));
    listing.wide.rows.push_back(WideRow(job, screen, now, spaces));
  }
  return listing;
}

int Rank(view::JobState state) {
  if (view::IsEnd(state)) return 3;
  if (state == view::JobState::kStopped) return 2;
  if (state == view::JobState::kWaiting || state == view::JobState::kRequeued) return 1;
  return 0;
}

void Sort(std::vector<view::JobView>& jobs) {
  std::ranges::sort(jobs, [](const view::JobView& a, const view::JobView& b) {
    const auto key = [](const view::JobView& job) {
      const base::Instant at = view::IsEnd(job.state) ? job.ended.value_or(job.created)
                                                      : job.queued.value_or(job.created);
      return std::tuple(Rank(job.state), at, job.space, job.name);
    };
    return key(a) < key(b);
  });
}

// A line (or object) for each change; on a terminal the table is drawn again.
base::Result<int> WatchJobs(Context& context, const std::string& target, const Filter& filter,
                            bool spaces) {
  TRY(client::Client * client, context.Server());
  const terminal::Screen& screen = context.screen();
  const bool documents =
      screen.format == terminal::Format::kJson || screen.format == terminal::Format::kYaml;
  const bool redraw = screen.out_is_terminal && screen.format == terminal::Format::kTable;
  std::map<std::string, view::JobView> known;
  bool listed = false;
  const auto show_all = [&] {
    std::vector<view::JobView> jobs;
    jobs.reserve(known.size());
    for (const auto& [uid, job] : known) jobs.push_back(job);
    Sort(jobs);
    const std::string text =
        terminal::Render(ListingOf(jobs, screen, terminal::Now(), spaces), screen, terminal::Now());
    context.Print(redraw ? "\x1b[H\x1b[2J" + text : text);
  };
  client::Watching watching;
  watching.on_listed = [&] {
    if (!documents && (!listed || redraw)) show_all();
    listed = true;
  };
  watching.on_away = [&](bool away) {
    context.Note(away ? screen.Pick("server away; trying again\n", "服务器不在; 正在重试\n")
                      : screen.Pick("server is back\n", "服务器已恢复\n"));
  };
  watching.on_change = [&](const client::Change& change) {
    view::JobView job = view::ViewJob(change.object);
    const bool gone = change.type == client::Change::Type::kDeleted;
    if (!filter.Wants(job) && !known.contains(job.uid)) return true;
    if (documents) {
      json::object item = view::JobItem(job, terminal::Now());
      if (gone) item["state"] = "deleted";
      context.Print(screen.format == terminal::Format::kYaml ? "---\n" + terminal::ToYaml(item)
                                                             : terminal::RenderLine(item));
    }
    const std::string uid = job.uid;
    if (gone || !filter.Wants(job)) {
      known.erase(uid);
    } else {
      known.insert_or_assign(uid, job);
    }
    if (documents || !listed) return true;
    if (redraw) {
      show_all();
      return true;
    }
    terminal::Screen bare = screen;
    bare.header = false;
    std::vector<view::JobView> one{std::move(job)};
    context.Print(
        terminal::Render(ListingOf(one, bare, terminal::Now(), spaces), bare, terminal::Now()));
    return true;
  };
  TRY_DO(client::Watch(*client, target, watching, {}));
  return terminal::kDone;
}

}  // namespace

base::Result<int> PsMain(Context& context) {
  const grammar::Invocation& line = context.line();
  TRY(client::Client * client, context.Server());
  TRY(std::string space, context.Space());
  const bool spaces = line.Has("all-users");
  if (spaces) space.clear();
  Filter filter{line.Has("all"), line.words.empty() ? "" : line.words[0], line.Value("queue"),
                line.Value("user")};
  const std::string target = client::TfJobPath(space);
  if (line.Has("watch")) return WatchJobs(context, target, filter, spaces);
  TRY(const auto objects, client::ListAll(*client, target));
  std::vector<view::JobView> jobs;
  int ended = 0;
  for (const json::value& object : objects) {
    view::JobView job = view::ViewJob(object);
    if (view::IsEnd(job.state)) ++ended;
    if (filter.Wants(job)) jobs.push_back(std::move(job));
  }
  if (!filter.name.empty() && jobs.empty()) {
    return base::Fail(base::Kind::kNotFound, "PND-C008", "",
                      fmt::format("no job \"{}\" in namespace {}", filter.name, space));
  }
  if (!filter.queue.empty() && jobs.empty()) {
    // Nobody stands in a queue that is not there: a fault of spelling.
    TRY_DO(client::CheckNamed(*client, client::kQueues, "queue", filter.queue, "PND-C022"));
  }
  Sort(jobs);
  const terminal::Screen& screen = context.screen();
  if (jobs.empty() &&
      (screen.format == terminal::Format::kTable || screen.format == terminal::Format::kWide)) {
    context.Note(ended == 0 ? std::string(screen.Pick("no jobs\n", "没有作业\n"))
                            : fmt::format(fmt::runtime(screen.Pick(
                                              "no unfinished jobs; {} finished: pondage ps -a\n",
                                              "没有未结束的作业; 已结束 {} 个: pondage ps -a\n")),
                                          ended));
    return terminal::kDone;
  }
  context.Print(
      terminal::Render(ListingOf(jobs, screen, terminal::Now(), spaces), screen, terminal::Now()));
  return terminal::kDone;
}

}  // namespace pondage::cmd
