#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

constexpr std::size_t kMostPodsAsked = 64;
constexpr std::int64_t kSavedAndLeft = 42;  // the exit code that means it

struct Moments {
  base::Instant at;
  std::string what, about, message;
  bool warning = false;
  std::int64_t count = 1;
};

// "worker/1" of "mnist-7-worker-1".
std::string OfPod(const view::JobView& job, const std::string& pod) {
  const auto replica = view::ReplicaName(pod.substr(job.name.size() + 1));
  return replica ? *replica : pod;
}

base::Result<std::vector<Moments>> TimeLine(client::Client& client, const view::JobView& job) {
  std::vector<std::string> names{job.name};
  for (const view::ReplicaView& replica : job.replicas) {
    if (names.size() < kMostPodsAsked) names.push_back(replica.pod);
  }
  std::vector<Moments> line;
  for (const std::string& name : names) {
    const std::string target =
        "/api/v1/namespaces/" + client::PercentEncode(job.space) +
        "/events?fieldSelector=" + client::PercentEncode("involvedObject.name=" + name);
    TRY(const auto events, client::ListAll(client, target));
    for (const json::value& event : events) {
      auto at = client::Time(event, {"lastTimestamp"});
      if (!at) at = client::Time(event, {"eventTime"});
      if (!at) at = client::Time(event, {"metadata", "creationTimestamp"});
      // An older job of the same name has events of its own.
      if (name == job.name && client::Text(event, {"involvedObject", "uid"}) != job.uid) continue;
      if (!at || *at < job.created) continue;
      line.push_back({*at, client::Text(event, {"reason"}),
                      name == job.name ? "" : OfPod(job, name), client::Text(event, {"message"}),
                      client::Text(event, {"type"}) == "Warning",
                      client::NumberOr(event, {"count"}, 1)});
    }
  }
  std::ranges::stable_sort(line, {}, &Moments::at);
  return line;
}

// In a Pod `$$` stands for one `$`.
std::string AsTyped(std::string_view word) {
  std::string typed;
  for (std::size_t i = 0; i < word.size(); ++i) {
    typed += word[i];
    if (word[i] == '$' && i + 1 < word.size() && word[i + 1] == '$') ++i;
  }
  return typed;
}

std::string CommandOf(const json::value& object) {
  for (const auto& [role, spec] : client::Members(object, {"spec", "tfReplicaSpecs"})) {
    for (const json::value& container : client::Items(spec, {"template", "spec", "containers"})) {
      std::vector<std::string> words;
      for (const char* part : {"command", "args"}) {
        for (const json::value& word : client::Items(container, {part})) {
          if (word.is_string()) words.push_back(AsTyped(word.get_string()));
        }
      }
      if (!words.empty()) return terminal::ShellQuote(words);
    }
  }
  return {};
}

std::string GpuList(const view::ReplicaView& replica) {
  return replica.gpus.empty() ? "-" : fmt::format("{}", fmt::join(replica.gpus, ","));
}

// `saved`: a checkpoint was seen since it was asked to leave.
std::string ExitText(std::int64_t code, const std::string& reason, const std::string& message,
                     bool saved, const terminal::Screen& screen) {
  std::string text = std::to_string(code);
  if (code == kSavedAndLeft && reason == "Error") {
    return text + (saved ? screen.Pick(" saved, asked to leave", " 已保存, 按要求退出")
                         : screen.Pick(" asks to be run again", " 请求再次运行"));
  }
  if (!reason.empty()) text += " " + reason;
  if (!message.empty()) text += ": " + message;
  return text;
}

std::string PhaseText(const view::ReplicaView& replica, const terminal::Screen& screen) {
  if (replica.restart_at) return std::string(screen.Word("restarting"));
  if (replica.phase.empty()) return "-";
  if (screen.language == terminal::Language::kEnglish) return replica.phase;
  std::string word = replica.phase;
  word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
  return std::string(screen.Word(word));
}

std::string Replicas(const view::JobView& job, const terminal::Screen& screen) {
  terminal::Table table;
  for (const char* word : {"REPLICA", "PHASE", "NODE", "GPUS", "RESTARTS", "STEP", "EXIT"}) {
    table.headings.push_back(screen.Word(word));
  }
  for (const view::ReplicaView& replica : job.replicas) {
    table.rows.push_back(
        {{replica.name},
         {PhaseText(replica, screen)},
         {replica.node.empty() ? "-" : replica.node},
         {GpuList(replica)},
         {std::to_string(replica.restarts)},
         {replica.step < 0 ? "-" : std::to_string(replica.step)},
         {replica.exit_code ? ExitText(*replica.exit_code, replica.exit_reason,
                                       replica.exit_message, job.saved_since_asked, screen)
                            : "-"}});
  }
  return job.replicas.empty() ? "" : "\n" + table.Text(screen);
}

// Why it started again, the last times.
std::string Restarts(const view::JobView& job, const terminal::Screen& screen, base::Instant now) {
  terminal::Table table;
  table.headings = {screen.Pick("RESTARTED", "重启时间"), screen.Pick("ATTEMPT", "尝试"),
                    screen.Pick("BECAUSE OF", "起因"), screen.Word("EXIT")};
  for (const view::PastView& past : job.history) {
    table.rows.push_back({{past.at ? terminal::Moment(*past.at, now) : "-"},
                          {std::to_string(past.attempt)},
                          {past.replica},
                          {ExitText(past.code, past.reason, past.message, false, screen)}});
  }
  return job.history.empty() ? "" : "\n" + table.Text(screen);
}

std::string Facts(const view::JobView& job, const json::value& object,
                  const terminal::Screen& screen, base::Instant now) {
  std::string out;
  const auto fact = [&](const char* english, const char* chinese, const std::string& text) {
    if (!text.empty())
      out += "  " + terminal::Pad(screen.Pick(english, chinese), 12) + terminal::Plain(text) + "\n";
  };
  out += fmt::format(
      "{}  {}\n", screen.Out(terminal::Tint::kBold, job.name),
      screen.Out(view::StateTint(job.state), view::StateWord(job.state, screen.language)));
  fact("why", "原因", view::ReasonText(job, screen, now));
  fact("queue", "队列", job.queue);
  fact("user", "用户", job.user);
  std::vector<std::string> asked;
  asked.reserve(job.asked.size());
  for (const auto& [role, count] : job.asked) asked.push_back(fmt::format("{} x {}", count, role));
  fact("asks for", "需求", fmt::format("{}; {} GPU", terminal::Join(asked, ", "), job.gpus));
  fact("image", "镜像", job.image);
  fact("command", "命令", CommandOf(object));
  fact("directory", "目录", job.work_copy);
  if (job.saved) {
    fact("checkpoint", "检查点",
         fmt::format(
             fmt::runtime(screen.Pick("{}{} ago  {}", "{}{} 前  {}")),
             job.saved_step >= 0
                 ? fmt::format(fmt::runtime(screen.Pick("step {}, ", "第 {} 步, ")), job.saved_step)
                 : "",
             terminal::ShortAge(now - *job.saved), job.saved_path));
  } else {
    fact("checkpoint", "检查点", screen.Pick("none seen", "未见到"));
  }
  fact("attempt", "尝试",
       fmt::format(fmt::runtime(screen.Pick("{}, restarts {}", "第 {} 次, 重启 {} 次")),
                   job.attempt, job.restarts));
  fact("created", "创建", terminal::Moment(job.created, now));
  if (job.bound) fact("started", "开始", terminal::Moment(*job.bound, now));
  if (job.ended) fact("ended", "结束", terminal::Moment(*job.ended, now));
  return out;
}

}  // namespace

base::Result<int> ShowMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const terminal::Screen& screen = context.screen();
  TRY(const json::value object, client->Get(client::TfJobPath(space, context.line().words[0])));
  const view::JobView job = view::ViewJob(object);
  const base::Instant now = terminal::Now();
  if (const auto text = terminal::RenderOne(object, view::JobItem(job, now), screen)) {
    context.Print(*text);
    return terminal::kDone;
  }
  std::string out =
      Facts(job, object, screen, now) + Replicas(job, screen) + Restarts(job, screen, now);
  TRY(const auto line, TimeLine(*client, job));
  if (!line.empty()) {
    terminal::Table table;
    table.headings = {screen.Pick("TIME", "时间"), screen.Pick("EVENT", "事件"),
                      screen.Pick("OF", "对象"), screen.Pick("MESSAGE", "内容")};
    for (const Moments& each : line) {
      std::string text = each.message;
      if (each.count > 1) text += fmt::format(" (x{})", each.count);
      table.rows.push_back(
          {{now - each.at < base::SecondsLong(20 * 3600) ? terminal::ClockText(each.at)
                                                         : terminal::Moment(each.at, now)},
           {each.what, each.warning ? terminal::Tint::kYellow : terminal::Tint::kNone},
           {each.about.empty() ? "-" : each.about},
           {text}});
    }
    out += "\n" + table.Text(screen);
  }
  context.Print(out);
  return terminal::kDone;
}

}  // namespace pondage::cmd
