#include "session/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "client/kube.h"
#include "session/event_queue.h"
#include "session/log_place.h"
#include "terminal/interrupt.h"
#include "terminal/progress.h"
#include "terminal/stream.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::session {

namespace json = boost::json;
namespace {

using namespace std::chrono_literals;

struct Event {
  enum class Type { kJob, kJobGone, kPod, kOutput, kOutputEnd, kLost, kAway, kBack, kError } type;
  json::value object;
  std::string replica;
  std::string text;
  base::Error error;
};

constexpr std::size_t kMostEvents = 4096;
// How long more output is waited for once the job has ended, from the last that came.
constexpr auto kLastWords = 10s;

std::string ReplicaOf(const json::value& pod) {
  return fmt::format(
      "{}/{}", client::Text(pod, {"metadata", "labels", "training.kubeflow.org/replica-type"}),
      client::Text(pod, {"metadata", "labels", "training.kubeflow.org/replica-index"}));
}

// Which start of this Pod's main program runs or ended last; none: it was not started yet, or waits
// for its next start, and then its log is still that of the start before.
std::optional<std::int64_t> StartOf(const json::value& pod) {
  for (const json::value& status : client::Items(pod, {"status", "containerStatuses"})) {
    if (client::Text(status, {"name"}) != "tensorflow") continue;
    // Running without a time: asked for, its log is not there yet.
    if (client::Text(status, {"state", "running", "startedAt"}).empty() &&
        client::Find(status, {"state", "terminated"}) == nullptr) {
      continue;
    }
    return client::NumberOr(status, {"restartCount"}, 0);
  }
  return std::nullopt;
}

class Follower {
 public:
  Follower(client::Client& client, const terminal::Screen& screen, std::string space,
           std::string name, LogWish wish, bool states)
      : client_(client),
        screen_(screen),
        space_(std::move(space)),
        name_(std::move(name)),
        wish_(std::move(wish)),
        states_(states),
        queue_(kMostEvents),
        progress_(screen) {}

  ~Follower() {
    for (std::jthread& watcher : watchers_) watcher.request_stop();
    for (auto& [key, reader] : readers_) reader.request_stop();
  }

  base::Result<int> Go();

 private:
  void WatchJob();
  void WatchPods();
  void ReadOutput(const json::value& pod, std::int64_t start);
  base::Result<void> Take(Event event);
  void TakeJob(const json::value& object);
  void TakePod(const json::value& pod);
  void TakeOutput(const Event& event);
  void ShowState(const view::JobView& job);
  void TellOfTries();
  void TellOfUnread();
  void Away(bool away);
  base::Result<void> LastPods();
  base::Result<int> Verdict();
  int Detached();
  bool Raw() const { return !wish_.replica.empty() || (job_ && !job_->collective()); }

  client::Client& client_;
  const terminal::Screen& screen_;
  const std::string space_, name_;
  const LogWish wish_;
  const bool states_;
  bool told_of_tries_ = false;
  EventQueue<Event> queue_;
  terminal::Progress progress_;
  std::optional<view::JobView> job_;
  std::string told_;
  std::map<std::string, int> reading_;             // pod uid/start: 1 being read, 0 read to its end
  std::map<std::string, std::string> unfinished_;  // replica -> line without its end yet
  bool gone_ = false;
  bool away_ = false;
  // Last, so that they end before what they use.
  std::map<std::string, std::jthread> readers_;  // by pod uid/start, until its end was taken
  std::vector<std::jthread> watchers_;
};

void Follower::WatchJob() {
  watchers_.emplace_back([this, client = client_.Fork()](std::stop_token stop) {
    client::Watching watching;
    watching.on_change = [&](const client::Change& change) {
      const bool deleted = change.type == client::Change::Type::kDeleted;
      return queue_.Push(
          {deleted ? Event::Type::kJobGone : Event::Type::kJob, change.object, {}, {}, {}}, stop);
    };
    watching.on_away = [&](bool away) {
      queue_.Push({away ? Event::Type::kAway : Event::Type::kBack, {}, {}, {}, {}}, stop);
    };
    watching.patience = std::chrono::hours(24);
    auto outcome = client::Watch(*client,
                                 client::TfJobPath(space_) + "?fieldSelector=" +
                                     client::PercentEncode("metadata.name=" + name_),
                                 watching, stop);
    if (!outcome) queue_.Push({Event::Type::kError, {}, {}, {}, outcome.error()}, stop);
  });
}

void Follower::WatchPods() {
  watchers_.emplace_back([this, client = client_.Fork()](std::stop_token stop) {
    client::Watching watching;
    watching.on_change = [&](const client::Change& change) {
      if (change.type == client::Change::Type::kDeleted) return true;
      return queue_.Push({Event::Type::kPod, change.object, {}, {}, {}}, stop);
    };
    watching.patience = std::chrono::hours(24);
    auto outcome = client::Watch(*client, client::PodPath(space_) + "?" + client::PodsOfJob(name_),
                                 watching, stop);
    if (!outcome) queue_.Push({Event::Type::kError, {}, {}, {}, outcome.error()}, stop);
  });
}

// Reads one start of one replica to its end, going on behind what was read when the server was
// away.
void Follower::ReadOutput(const json::value& pod, std::int64_t start) {
  const std::string replica = ReplicaOf(pod);
  const std::string key = fmt::format("{}/{}", client::Text(pod, {"metadata", "uid"}), start);
  if ((!wish_.replica.empty() && replica != wish_.replica) || reading_.contains(key)) return;
  reading_[key] = 1;
  const std::string target = client::PodPath(space_, client::Text(pod, {"metadata", "name"})) +
                             "/log?container=tensorflow&follow=true" + wish_.query +
                             (wish_.timestamps ? "&timestamps=true" : "");
  readers_[key] =
      std::jthread([this, replica, key, target, client = client_.Fork()](std::stop_token stop) {
        const auto push = [&](Event::Type type, std::string text) {
          return text.empty() || queue_.Push({type, {}, replica, std::move(text), {}}, stop);
        };
        LogPlace place(wish_.timestamps);
        while (!stop.stop_requested()) {
          bool begun = false;
          auto outcome = client->Bytes(
              target + place.Query(),
              [&](std::string_view bytes) {
                if (!begun) {
                  const base::Bytes gone{place.Begin(client->Header("Pondage-Log-From"))};
                  if (gone > base::Bytes{0}) push(Event::Type::kLost, terminal::SizeText(gone));
                }
                begun = true;
                return push(Event::Type::kOutput, place.Take(bytes));
              },
              stop);
          if (outcome || outcome.error().kind != base::Kind::kUnavailable) break;
          std::this_thread::sleep_for(300ms);
        }
        push(Event::Type::kOutput, place.Rest());
        push(Event::Type::kOutputEnd, key);
      });
}

void Follower::TakePod(const json::value& pod) {
  if (const auto start = StartOf(pod)) ReadOutput(pod, *start);
}

int PrefixWidth(const std::optional<view::JobView>& job) {
  int widest = 0;
  if (job) {
    for (const auto& [role, count] : job->asked) {
      widest = std::max(widest, terminal::Width(fmt::format("{}/{}", role, count - 1)));
    }
  }
  return widest;
}

void Follower::TakeOutput(const Event& event) {
  progress_.Clear();
  if (Raw()) {
    terminal::Print(event.text);
    return;
  }
  std::string& line = unfinished_[event.replica];
  line += event.text;
  const std::size_t end = line.rfind('\n');
  if (end == std::string::npos) return;
  const std::string prefix = LogPrefix(event.replica, PrefixWidth(job_), screen_);
  std::string out;
  for (const std::string& whole : terminal::Split(std::string_view(line).substr(0, end), '\n')) {
    out += prefix + whole + "\n";
  }
  terminal::Print(out);
  line.erase(0, end + 1);
}

std::string StepOf(const view::JobView& job, const terminal::Screen& screen, base::Instant now) {
  const auto step = [&](int number, std::string text) {
    return fmt::format("[{}/3] {}", number, text);
  };
  const std::string word = view::StateWord(job.state, screen.language);
  const std::string again =
      job.attempt > 1
          ? fmt::format(fmt::runtime(screen.Pick(" (attempt {})", " (第 {} 次)")), job.attempt)
          : "";
  std::string reason = view::ReasonText(job, screen, now);
  if (job.reason && job.reason->start_latest && !view::IsEnd(job.state)) {
    reason += fmt::format(fmt::runtime(screen.Pick("; starts by {}", "; 最迟 {} 开始")),
                          terminal::Moment(*job.reason->start_latest, now));
  }
  switch (job.state) {
    case view::JobState::kWaiting:
    case view::JobState::kRequeued:
      return step(1, word + (reason.empty() ? "" : ": " + reason));
    case view::JobState::kStarting: {
      std::vector<std::string> places;
      places.reserve(job.replicas.size());
      for (const view::ReplicaView& replica : job.replicas) {
        std::string place = replica.name + (replica.node.empty() ? "" : " " + replica.node);
        if (!replica.gpus.empty()) place += fmt::format(" [{}]", fmt::join(replica.gpus, ","));
        places.push_back(std::move(place));
      }
      return step(2, word + again + ": " + terminal::Join(places, "; "));
    }
    case view::JobState::kRunning:
      // What never started wrote no line that would say why.
      for (const view::ReplicaView& replica : job.replicas) {
        if (replica.exit_reason != "StartFailed" || reason.contains(replica.exit_message)) continue;
        reason +=
            fmt::format("{}{}: {}", reason.empty() ? "" : "; ", replica.name, replica.exit_message);
        break;
      }
      return step(3, word + again + (reason.empty() ? "" : ": " + reason));
    default:
      return word + (reason.empty() ? "" : ": " + reason);
  }
}

// Once: a program that fails for good is not tried again and again unnoticed.
void Follower::TellOfTries() {
  if (std::exchange(told_of_tries_, true)) return;
  progress_.Line(fmt::format(
      fmt::runtime(screen_.Pick("{0} failed and is tried again, as its restart policy says\n"
                                "  no more  pondage stop {0}\n"
                                "  never    pondage run --restarts 0 ...",
                                "{0} 失败, 将按其重启策略再次尝试\n"
                                "  停止尝试  pondage stop {0}\n"
                                "  从不尝试  pondage run --restarts 0 ...")),
      name_));
}

// The server says nothing more of a log whose end was not seen.
void Follower::TellOfUnread() {
  progress_.Line(
      fmt::format(fmt::runtime(screen_.Pick("not all output came; all there is: pondage logs {}",
                                            "输出没有全部收到; 全部内容: pondage logs {}")),
                  name_));
}

void Follower::ShowState(const view::JobView& job) {
  const bool waits = job.state == view::JobState::kWaiting ||
                     job.state == view::JobState::kRequeued ||
                     job.state == view::JobState::kRestarting;
  const std::string text = fmt::format("{} {}", job.name, StepOf(job, screen_, terminal::Now()));
  if (waits) {
    if (job.state == view::JobState::kRestarting && job.failures > 0) TellOfTries();
    // A wait is shown again in place; the first of it stays when others of the job were told
    // before.
    if (!told_.empty() && told_ != view::StateName(job.state)) progress_.Line(text);
    progress_.Show(text);
    told_ = view::StateName(job.state);
    return;
  }
  const std::string key =
      fmt::format("{} {} {}", view::StateName(job.state), job.attempt, job.failures);
  if (key == told_ || view::IsEnd(job.state)) return;
  told_ = key;
  progress_.Line(text);
}

void Follower::TakeJob(const json::value& object) {
  const bool first = !job_;
  job_ = view::ViewJob(object);
  if (first) WatchPods();  // how output is shown depends on the job
  if (states_) ShowState(*job_);
}

void Follower::Away(bool away) {
  if (away == away_ || !states_) return;
  away_ = away;
  progress_.Line(away ? screen_.Pick("the server is away; the job goes on; waiting for it",
                                     "服务器不在; 作业继续运行; 正在等待服务器")
                      : screen_.Pick("the server is back", "服务器已恢复"));
}

base::Result<void> Follower::Take(Event event) {
  switch (event.type) {
    case Event::Type::kJob:
      TakeJob(event.object);
      break;
    case Event::Type::kJobGone:
      gone_ = true;
      break;
    case Event::Type::kPod:
      TakePod(event.object);
      break;
    case Event::Type::kOutput:
      TakeOutput(event);
      break;
    case Event::Type::kOutputEnd:
      reading_[event.text] = 0;
      readers_.erase(event.text);
      if (!Raw() && !unfinished_[event.replica].empty()) {
        TakeOutput({Event::Type::kOutput, {}, event.replica, "\n", {}});
      }
      break;
    case Event::Type::kLost:
      progress_.Line(
          fmt::format(fmt::runtime(screen_.Pick("{}: {} of its log were rotated away meanwhile",
                                                "{}: 其日志有 {} 在此期间已被轮转清除")),
                      event.replica, event.text));
      break;
    case Event::Type::kAway:
      Away(true);
      break;
    case Event::Type::kBack:
      Away(false);
      break;
    case Event::Type::kError:
      return std::unexpected(std::move(event.error));
  }
  return {};
}

// Pods whose start was not seen before the job was over.
base::Result<void> Follower::LastPods() {
  TRY(const auto pods,
      client::ListAll(client_, client::PodPath(space_) + "?" + client::PodsOfJob(name_)));
  for (const json::value& pod : pods) TakePod(pod);
  return {};
}

int Follower::Detached() {
  progress_.Clear();
  terminal::Note(screen_, fmt::format(fmt::runtime(screen_.Pick("\ndetached; job {0} goes on\n"
                                                                "  return  pondage logs -f {0}\n"
                                                                "  stop    pondage stop {0}\n",
                                                                "\n已断开; 作业 {0} 继续\n"
                                                                "  返回  pondage logs -f {0}\n"
                                                                "  停止  pondage stop {0}\n")),
                                      name_));
  return terminal::kDetached;
}

base::Result<int> Follower::Verdict() {
  progress_.Clear();
  if (gone_) {
    return base::Fail(base::Kind::kNotFound, "PND-C014", name_,
                      fmt::format("job {} was deleted while it was followed", name_));
  }
  const view::JobView& job = *job_;
  if (!states_) return terminal::kDone;
  if (job.state == view::JobState::kStopped) {
    return base::Fail(base::Kind::kInvalid, "PND-C021", name_,
                      fmt::format("job {} was stopped{}", name_,
                                  job.stopped_by.empty() ? "" : " by " + job.stopped_by));
  }
  const std::string reason = view::ReasonText(job, screen_, terminal::Now());
  terminal::Note(screen_, fmt::format("{} {}{}\n", name_,
                                      screen_.Err(view::StateTint(job.state),
                                                  view::StateWord(job.state, screen_.language)),
                                      reason.empty() ? "" : ": " + reason));
  if (!job.work_copy.empty()) {
    terminal::Note(
        screen_,
        fmt::format(fmt::runtime(screen_.Pick("  files it wrote: {}\n", "  它写的文件: {}\n")),
                    job.work_copy));
  }
  if (job.state == view::JobState::kSucceeded) return terminal::kDone;
  terminal::Note(
      screen_, fmt::format(fmt::runtime(screen_.Pick("  more: pondage show {0}; what may be wrong: "
                                                     "pondage doctor --job {0}\n",
                                                     "  详情: pondage show {0}; 可能的原因: "
                                                     "pondage doctor --job {0}\n")),
                           name_));
  if (job.exit_code && *job.exit_code != 0) return static_cast<int>(*job.exit_code & 0xff);
  return base::Fail(base::Kind::kInvalid, "PND-C014", name_,
                    fmt::format("{}: {}", name_, job.failure));
}

base::Result<int> Follower::Go() {
  terminal::Interrupt interrupt;
  WatchJob();
  std::optional<std::chrono::steady_clock::time_point> ended;
  while (true) {
    if (interrupt.Came()) return states_ ? Detached() : terminal::kDetached;
    auto event = queue_.Pop(ended ? 50ms : 200ms);
    const bool quiet = !event;
    if (event) TRY_DO(Take(*std::move(event)));
    if (!quiet && ended) ended = std::chrono::steady_clock::now();  // a slow terminal took it
    if (gone_) return Verdict();
    if (!job_) continue;
    const bool over = view::IsEnd(job_->state) || job_->state == view::JobState::kStopped;
    if (!over) {
      ended.reset();
      if (states_ && quiet) ShowState(*job_);
      continue;
    }
    if (!ended) {
      ended = std::chrono::steady_clock::now();
      TRY_DO(LastPods());
    }
    const bool all_read =
        std::ranges::none_of(reading_, [](const auto& each) { return each.second == 1; });
    if (all_read && quiet) return Verdict();
    if (quiet && std::chrono::steady_clock::now() - *ended > kLastWords) {
      TellOfUnread();
      return Verdict();
    }
  }
}

}  // namespace

std::string LogPrefix(const std::string& replica, int width, const terminal::Screen& screen) {
  static constexpr terminal::Tint kTints[] = {terminal::Tint::kCyan, terminal::Tint::kGreen,
                                              terminal::Tint::kYellow, terminal::Tint::kMagenta,
                                              terminal::Tint::kBlue};
  std::size_t sum = 0;
  for (const char c : replica) sum = sum * 31 + static_cast<unsigned char>(c);
  return screen.Out(kTints[sum % std::size(kTints)], terminal::Pad(replica, width) + " |") + " ";
}

base::Result<int> FollowJob(client::Client& client, const terminal::Screen& screen,
                            const std::string& space, const std::string& name) {
  Follower follower(client, screen, space, name, {}, true);
  return follower.Go();
}

base::Result<int> FollowLogs(client::Client& client, const terminal::Screen& screen,
                             const std::string& space, const std::string& name,
                             const LogWish& wish) {
  TRY_DO(client.Get(client::TfJobPath(space, name)));
  Follower follower(client, screen, space, name, wish, false);
  return follower.Go();
}

}  // namespace pondage::session
