#include <fmt/format.h>

#include <algorithm>

#include "client/kube.h"
#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "phrase/phrase.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

// The others of the pool, seen from one job.
struct Neighbours {
  std::vector<view::JobView> holders;  // that hold GPUs, most first
  std::vector<view::JobView> ahead;    // that wait in the same queue and came earlier
};

bool Holds(const view::JobView& job) {
  switch (job.state) {
    case view::JobState::kStarting:
    case view::JobState::kRunning:
    case view::JobState::kSaving:
    case view::JobState::kRestarting:
    case view::JobState::kStopping:
    case view::JobState::kDeleting:
      return job.gpus > 0 && !job.replicas.empty();
    default:
      return false;
  }
}

bool Waits(const view::JobView& job) {
  return job.state == view::JobState::kWaiting || job.state == view::JobState::kRequeued;
}

base::Result<Neighbours> NeighboursOf(client::Client& client, const view::JobView& job) {
  // Every namespace when the token may see it; else the job's own.
  auto objects = client::ListAll(client, client::TfJobPath(""));
  if (!objects) objects = client::ListAll(client, client::TfJobPath(job.space));
  if (!objects) return std::unexpected(objects.error());
  Neighbours around;
  for (const json::value& object : *objects) {
    view::JobView other = view::ViewJob(object);
    if (other.uid == job.uid) continue;
    const bool earlier = other.queued.value_or(other.created) < job.queued.value_or(job.created);
    if (Holds(other)) {
      around.holders.push_back(std::move(other));
    } else if (Waits(other) && other.queue == job.queue && (earlier || job.uid.empty())) {
      around.ahead.push_back(std::move(other));
    }
  }
  std::ranges::sort(around.holders, [](const view::JobView& a, const view::JobView& b) {
    return std::tuple(-a.gpus, a.name) < std::tuple(-b.gpus, b.name);
  });
  std::ranges::sort(around.ahead, [](const view::JobView& a, const view::JobView& b) {
    return std::tuple(a.queued.value_or(a.created), a.name) <
           std::tuple(b.queued.value_or(b.created), b.name);
  });
  return around;
}

// As seen from the job that is explained.
std::string HolderText(const view::JobView& job, const view::JobView& asker,
                       const terminal::Screen& screen, base::Instant now) {
  const std::string name = job.space == asker.space ? job.name : job.space + "/" + job.name;
  std::string text =
      fmt::format("{} ({}{} GPU", name, job.user.empty() ? "" : job.user + ", ", job.gpus);
  if (job.bound)
    text += fmt::format(fmt::runtime(screen.Pick(", since {}", ", 自 {} 起")),
                        terminal::Moment(*job.bound, now));
  if (job.bound && job.ends_by)
    text += fmt::format(fmt::runtime(screen.Pick(", until {} at most", ", 最迟到 {}")),
                        terminal::Moment(*job.ends_by, now));
  if (job.queue != asker.queue)
    text += fmt::format(fmt::runtime(screen.Pick(", queue {}", ", 队列 {}")), job.queue);
  return text + ")";
}

std::string Names(const std::vector<view::JobView>& jobs, const view::JobView& asker,
                  const terminal::Screen& screen, base::Instant now) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const view::JobView& job : jobs) {
    if (names.size() == kMost) break;
    names.push_back(HolderText(job, asker, screen, now));
  }
  std::string text = terminal::Join(names, ", ");
  if (jobs.size() > kMost)
    text += fmt::format(fmt::runtime(screen.Pick(" and {} more", " 等另外 {} 个")),
                        jobs.size() - kMost);
  return text;
}

// What would help, as flags when the planner named a change, else by the kind of constraint.
std::string WhatHelps(const view::JobView& job, const std::string& help,
                      const terminal::Screen& screen) {
  if (!help.empty()) return phrase::Hint(help, screen.language);
  const std::string constraint = job.reason ? job.reason->constraint : "";
  if (constraint == "held") return fmt::format("pondage resume {}", job.name);
  if (constraint == "noqueue") return fmt::format("pondage queue set {} limit=none", job.queue);
  if (constraint == "limit")
    return screen.Pick("a smaller job, another --queue, or a larger limit (pondage queue set)",
                       "更小的作业, 换队列 --queue, 或提高上限 (pondage queue set)");
  if (constraint == "unhealthy")
    return screen.Pick("pondage nodes, then pondage nodes undrain NODE",
                       "pondage nodes, 然后 pondage nodes undrain NODE");
  if (constraint == "never" || constraint == "fragmented")
    return screen.Pick("fewer --gpus per worker", "减少每个 worker 的 --gpus");
  if (constraint == "busy")
    return screen.Pick("fewer GPUs, or a --time limit on the jobs that run",
                       "减少 GPU, 或给正在运行的作业加 --time");
  return {};
}

std::string WhenText(const view::JobView& job, const terminal::Screen& screen, base::Instant now) {
  if (!job.reason) return screen.Pick("at the next look of the planner", "调度器下次检查时");
  if (job.reason->constraint == "never") return screen.Pick("never, as it is", "按此要求永远不能");
  if (job.reason->constraint == "absent")
    return screen.Pick("when it is there, as soon as GPUs are free", "对象建立后, GPU 空闲时");
  if (!job.reason->start_latest)
    return screen.Pick("unknown: a job that holds GPUs has no time limit",
                       "未知: 占用 GPU 的作业没有时限");
  return fmt::format(fmt::runtime(screen.Pick("by {}, if the jobs that run end at their limits",
                                              "最迟 {}, 若运行中的作业按时限结束")),
                     terminal::Moment(*job.reason->start_latest, now));
}

struct Explanation {
  std::string headline, help, when;
  std::vector<std::pair<std::string, std::string>> lines;
};

std::string Headline(const view::JobView& job, const terminal::Screen& screen, base::Instant now) {
  std::string word = view::StateWord(job.state, screen.language);
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  const std::string reason = view::ReasonText(job, screen, now);
  return screen.Out(view::StateTint(job.state), word) +
         (reason.empty() ? "" : "  " + terminal::Plain(reason));
}

// What to do about a job that is tried again and again.
void LookAndStop(const view::JobView& job, const auto& line) {
  line("look", "查看", fmt::format("pondage logs {0}; pondage doctor --job {0}", job.name));
  line("no more", "不再重试", fmt::format("pondage stop {}", job.name));
}

Explanation Explain(const view::JobView& job, const Neighbours& around, const std::string& help,
                    const terminal::Screen& screen, base::Instant now) {
  Explanation told;
  told.headline = Headline(job, screen, now);
  const auto line = [&](const char* english, const char* chinese, std::string text) {
    if (!text.empty())
      told.lines.emplace_back(screen.Pick(english, chinese), terminal::Plain(text));
  };
  if (Waits(job)) {
    line("held by", "占用者", Names(around.holders, job, screen, now));
    line("ahead", "前面",
         around.ahead.empty()
             ? fmt::format(fmt::runtime(screen.Pick("nobody in {}", "{} 中没有人")), job.queue)
             : Names(around.ahead, job, screen, now));
    told.help = WhatHelps(job, help, screen);
    told.when = WhenText(job, screen, now);
    line("sooner", "更快", told.help);
    line("start", "开始", told.when);
  } else if (Holds(job)) {
    std::vector<std::string> places;
    places.reserve(job.replicas.size());
    for (const view::ReplicaView& replica : job.replicas) {
      places.push_back(
          replica.name + (replica.node.empty() ? "" : " " + replica.node) +
          (replica.gpus.empty() ? "" : fmt::format(" [{}]", fmt::join(replica.gpus, ","))));
    }
    line("where", "位置", terminal::Join(places, "; "));
    if (job.bound) line("since", "自", terminal::Moment(*job.bound, now));
    if (job.state == view::JobState::kRestarting) LookAndStop(job, line);
  } else if (job.state == view::JobState::kRestarting) {
    LookAndStop(job, line);
  } else if (job.state == view::JobState::kFailed) {
    line("why", "原因", job.failure);
    line("first", "最先",
         job.cause_replica.empty() || !job.exit_code
             ? ""
             : fmt::format("{} exit {} {}", job.cause_replica, *job.exit_code, job.cause_reason));
    line("look", "查看", fmt::format("pondage logs {0}; pondage doctor --job {0}", job.name));
  } else if (job.state == view::JobState::kStopped) {
    line("go on", "继续", fmt::format("pondage resume {}", job.name));
  }
  return told;
}

json::object Item(const view::JobView& job, const Neighbours& around, const Explanation& told,
                  base::Instant now) {
  const auto list = [](const std::vector<view::JobView>& jobs) {
    json::array names;
    for (const view::JobView& other : jobs) {
      names.push_back({{"name", other.name},
                       {"namespace", other.space},
                       {"user", other.user},
                       {"queue", other.queue},
                       {"gpus", other.gpus},
                       {"endsBy", other.ends_by ? json::value(terminal::Rfc3339(*other.ends_by))
                                                : json::value(nullptr)}});
    }
    return names;
  };
  json::object item = view::JobItem(job, now);
  item["holders"] = list(around.holders);
  item["ahead"] = list(around.ahead);
  item["help"] = told.help.empty() ? json::value(nullptr) : json::value(told.help);
  return item;
}

// The object with its reason as the server would plan it now.
base::Result<json::value> WhatIf(client::Client& client, const std::string& file,
                                 const std::string& space) {
  TRY(const auto objects, client::ReadManifests(file));
  for (const json::object& object : objects) {
    if (client::Text(object, {"kind"}) != "TFJob") continue;
    TRY(const client::ObjectPlace place, client::PlaceOf(object, space));
    return client.Post(place.list_path + "?dryRun=All", object);
  }
  return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("{} holds no TFJob", file));
}

}  // namespace

base::Result<int> ExplainMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (line.words.empty() == !line.Has("filename")) {
    return Fail(Kind::kInvalid, "PND-C002", "", "explain needs one job, or -f FILE");
  }
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  auto object = line.Has("filename") ? WhatIf(*client, line.Value("filename"), space)
                                     : client->Get(client::TfJobPath(space, line.words[0]));
  if (!object) return std::unexpected(object.error());
  view::JobView job = view::ViewJob(*object);
  if (line.Has("filename")) job.uid.clear();
  const terminal::Screen& screen = context.screen();
  const base::Instant now = terminal::Now();
  TRY(const Neighbours around, NeighboursOf(*client, job));
  const std::string help = client::Text(*object, {"status", "pondage", "reason", "help"});
  Explanation told = Explain(job, around, help, screen, now);
  if (line.Has("filename") && !job.reason) {
    told.headline = screen.Out(terminal::Tint::kGreen, screen.Pick("WOULD START", "可以开始")) +
                    "  " + screen.Pick("now", "立即");
    told.lines.clear();
  }
  terminal::Listing listing;
  listing.schema = "pondage.explain/1";
  listing.items.push_back(Item(job, around, told, now));
  if (screen.format != terminal::Format::kTable && screen.format != terminal::Format::kWide) {
    context.Print(terminal::Render(listing, screen, now));
    return terminal::kDone;
  }
  std::string out = told.headline + "\n";
  for (const auto& [name, text] : told.lines) out += terminal::Pad(name, 9) + text + "\n";
  context.Print(out);
  return terminal::kDone;
}

}  // namespace pondage::cmd
