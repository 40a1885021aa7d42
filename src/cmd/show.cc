#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "cmd/context.h"
#include "cmd/job_view.h"
#include "cmd/kube.h"
#include "cmd/mains.h"
#include "cmd/text.h"
#include "cmd/trouble.h"

namespace pondage::cmd {
namespace {

constexpr std::size_t kMostPodsAsked = 64;

struct Moments {
  base::Instant at;
  std::string what, about, message;
  bool warning = false;
  std::int64_t count = 1;
};

base::Result<std::vector<Moments>> TimeLine(Client& client, const JobView& job) {
  std::vector<std::string> names{job.name};
  for (const ReplicaView& replica : job.replicas) {
    if (names.size() < kMostPodsAsked) names.push_back(replica.pod);
  }
  std::vector<Moments> line;
  for (const std::string& name : names) {
    const std::string target =
        "/api/v1/namespaces/" + PercentEncode(job.space) +
        "/events?fieldSelector=" + PercentEncode("involvedObject.name=" + name);
    TRY(const auto events, ListAll(client, target));
    for (const json::value& event : events) {
      auto at = Time(event, {"lastTimestamp"});
      if (!at) at = Time(event, {"eventTime"});
      if (!at) at = Time(event, {"metadata", "creationTimestamp"});
      // An older job of the same name has events of its own.
      if (name == job.name && Text(event, {"involvedObject", "uid"}) != job.uid) continue;
      if (!at || *at < job.created) continue;
      line.push_back({*at, Text(event, {"reason"}),
                      name == job.name ? "" : name.substr(job.name.size() + 1),
                      Text(event, {"message"}), Text(event, {"type"}) == "Warning",
                      NumberOr(event, {"count"}, 1)});
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
  for (const auto& [role, spec] : Members(object, {"spec", "tfReplicaSpecs"})) {
    for (const json::value& container : Items(spec, {"template", "spec", "containers"})) {
      std::vector<std::string> words;
      for (const char* part : {"command", "args"}) {
        for (const json::value& word : Items(container, {part})) {
          if (word.is_string()) words.push_back(AsTyped(word.get_string()));
        }
      }
      if (!words.empty()) return ShellQuote(words);
    }
  }
  return {};
}

std::string GpuList(const ReplicaView& replica) {
  std::vector<std::string> gpus;
  for (const std::int64_t gpu : replica.gpus) gpus.push_back(std::to_string(gpu));
  return gpus.empty() ? "-" : Join(gpus, ",");
}

std::string ExitText(const ReplicaView& replica) {
  if (!replica.exit_code) return "-";
  std::string text = std::to_string(*replica.exit_code);
  if (!replica.exit_reason.empty()) text += " " + replica.exit_reason;
  if (!replica.exit_message.empty()) text += ": " + replica.exit_message;
  return text;
}

std::string Replicas(const JobView& job, const Screen& screen) {
  Table table;
  for (const char* word : {"REPLICA", "PHASE", "NODE", "GPUS", "RESTARTS", "STEP", "EXIT"}) {
    table.headings.push_back(screen.Word(word));
  }
  for (const ReplicaView& replica : job.replicas) {
    table.rows.push_back({{replica.name},
                          {replica.phase.empty() ? "-" : replica.phase},
                          {replica.node.empty() ? "-" : replica.node},
                          {GpuList(replica)},
                          {std::to_string(replica.restarts)},
                          {replica.step < 0 ? "-" : std::to_string(replica.step)},
                          {ExitText(replica)}});
  }
  return job.replicas.empty() ? "" : "\n" + table.Text(screen);
}

std::string Facts(const JobView& job, const json::value& object, const Screen& screen,
                  base::Instant now) {
  std::string out;
  const auto fact = [&](const char* english, const char* chinese, const std::string& text) {
    if (!text.empty()) out += "  " + Pad(screen.Pick(english, chinese), 12) + Plain(text) + "\n";
  };
  out += fmt::format("{}  {}\n", screen.Out(Tint::kBold, job.name),
                     screen.Out(StateTint(job.state), StateWord(job.state, screen.language)));
  fact("why", "原因", ReasonText(job, screen, now));
  fact("queue", "队列", job.queue);
  fact("user", "用户", job.user);
  std::vector<std::string> asked;
  for (const auto& [role, count] : job.asked) asked.push_back(fmt::format("{} x {}", count, role));
  fact("asks for", "需求", fmt::format("{}; {} GPU", Join(asked, ", "), job.gpus));
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
             ShortAge(now - *job.saved), job.saved_path));
  } else {
    fact("checkpoint", "检查点", screen.Pick("none seen", "未见到"));
  }
  fact("attempt", "尝试",
       fmt::format(fmt::runtime(screen.Pick("{}, restarts {}", "第 {} 次, 重启 {} 次")),
                   job.attempt, job.restarts));
  fact("created", "创建", Moment(job.created, now));
  if (job.bound) fact("started", "开始", Moment(*job.bound, now));
  if (job.ended) fact("ended", "结束", Moment(*job.ended, now));
  return out;
}

}  // namespace

base::Result<int> ShowMain(Context& context) {
  TRY(Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const Screen& screen = context.screen();
  TRY(const json::value object, client->Get(TfJobPath(space, context.line().words[0])));
  if (screen.format == Format::kJson) {
    context.Print(ToPrettyJson(object));
    return kDone;
  }
  if (screen.format == Format::kYaml) {
    context.Print(ToYaml(object));
    return kDone;
  }
  const JobView job = ViewJob(object);
  if (screen.format == Format::kName) {
    context.Print(job.name + "\n");
    return kDone;
  }
  const base::Instant now = Now();
  std::string out = Facts(job, object, screen, now) + Replicas(job, screen);
  TRY(const auto line, TimeLine(*client, job));
  if (!line.empty()) {
    Table table;
    table.headings = {screen.Pick("TIME", "时间"), screen.Pick("EVENT", "事件"),
                      screen.Pick("OF", "对象"), screen.Pick("MESSAGE", "内容")};
    for (const Moments& each : line) {
      std::string text = each.message;
      if (each.count > 1) text += fmt::format(" (x{})", each.count);
      table.rows.push_back({{now - each.at < base::SecondsLong(20 * 3600) ? ClockText(each.at)
                                                                          : Moment(each.at, now)},
                            {each.what, each.warning ? Tint::kYellow : Tint::kNone},
                            {each.about.empty() ? "-" : each.about},
                            {text}});
    }
    out += "\n" + table.Text(screen);
  }
  context.Print(out);
  return kDone;
}

}  // namespace pondage::cmd
