#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/amounts.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

using client::kQueues;
constexpr const char* kGpu = "nvidia.com/gpu";
constexpr int kDeepest = 20;

struct QueueView {
  std::string name, parent, display;
  std::int64_t guarantee = 0, used = 0, borrowed = 0, lent = 0;  // thousandths of a GPU
  std::optional<std::int64_t> limit;
  std::int64_t waiting = 0, running = 0;
  bool held = false, closed = false;
};

QueueView ViewQueue(const json::value& object) {
  QueueView view;
  view.name = client::Text(object, {"metadata", "name"});
  view.parent = client::Text(object, {"spec", "parent"});
  view.display = client::Text(object, {"spec", "display"});
  view.guarantee = view::MilliOf(object, {"spec", "guarantee", kGpu}).value_or(0);
  view.limit = view::MilliOf(object, {"spec", "limit", kGpu});
  view.used = view::MilliOf(object, {"status", "used", kGpu}).value_or(0);
  view.borrowed = view::MilliOf(object, {"status", "borrowed", kGpu}).value_or(0);
  view.waiting = client::NumberOr(object, {"status", "waiting"}, 0);
  view.running = client::NumberOr(object, {"status", "running"}, 0);
  view.held = client::IsTrue(object, {"spec", "held"});
  view.closed = client::IsTrue(object, {"spec", "closed"});
  return view;
}

std::string StateOf(const QueueView& queue, const terminal::Screen& screen) {
  if (queue.held) return screen.Word("held");
  return queue.closed ? screen.Pick("closed", "已关闭") : screen.Pick("open", "开放");
}

json::object ItemOf(const QueueView& queue) {
  const auto gpus = [](std::int64_t milli) {
    return milli % 1000 == 0 ? json::value(milli / 1000)
                             : json::value(static_cast<double>(milli) / 1000);
  };
  return {{"name", queue.name},
          {"parent", queue.parent.empty() ? json::value(nullptr) : json::value(queue.parent)},
          {"display", queue.display.empty() ? json::value(nullptr) : json::value(queue.display)},
          {"guaranteeGpus", gpus(queue.guarantee)},
          {"limitGpus", queue.limit ? gpus(*queue.limit) : json::value(nullptr)},
          {"usedGpus", gpus(queue.used)},
          {"borrowedGpus", gpus(queue.borrowed)},
          {"lentGpus", gpus(queue.lent)},
          {"waitingJobs", queue.waiting},
          {"runningJobs", queue.running},
          {"held", queue.held},
          {"closed", queue.closed}};
}

// Parents first, children behind them by name, with their depth.
void InTreeOrder(const std::multimap<std::string, QueueView>& children, const std::string& parent,
                 int depth, std::vector<std::pair<QueueView, int>>& out) {
  if (depth > kDeepest) return;
  const auto [first, last] = children.equal_range(parent);
  for (auto it = first; it != last; ++it) {
    out.emplace_back(it->second, depth);
    if (it->first != it->second.name) InTreeOrder(children, it->second.name, depth + 1, out);
  }
}

std::vector<std::pair<QueueView, int>> Tree(const std::vector<json::value>& objects) {
  std::map<std::string, QueueView> all;
  for (const json::value& object : objects) {
    QueueView view = ViewQueue(object);
    all.emplace(view.name, view);
  }
  // An idle guarantee is lent as far as others borrow.
  std::int64_t borrowed = 0;
  for (const auto& [name, view] : all) borrowed += view.borrowed;
  for (auto& [name, view] : all) {
    const std::int64_t idle = std::max<std::int64_t>(view.guarantee - view.used, 0);
    view.lent = std::min(idle, borrowed - view.borrowed);
  }
  std::multimap<std::string, QueueView> children;
  for (const auto& [name, view] : all) {
    children.emplace(all.contains(view.parent) && view.parent != name ? view.parent : "", view);
  }
  std::vector<std::pair<QueueView, int>> ordered;
  InTreeOrder(children, "", 0, ordered);
  // Those of a cycle of parents hang from nobody: they are shown all the same.
  for (const auto& [name, view] : all) {
    const bool shown =
        std::ranges::any_of(ordered, [&](const auto& entry) { return entry.first.name == name; });
    if (!shown) ordered.emplace_back(view, 0);
  }
  return ordered;
}

base::Result<int> ListQueues(Context& context, client::Client& client) {
  TRY(const auto objects, client::ListAll(client, kQueues));
  const terminal::Screen& screen = context.screen();
  terminal::Listing listing;
  listing.schema = "pondage.queue/1";
  for (const char* word :
       {"QUEUE", "GUARANTEE", "LIMIT", "USED", "BORROWED", "LENT", "RUNNING", "WAITING", "STATE"}) {
    listing.table.headings.push_back(screen.Word(word));
  }
  for (const auto& [queue, depth] : Tree(objects)) {
    listing.items.push_back(ItemOf(queue));
    std::string name(static_cast<std::size_t>(depth) * 2, ' ');
    name += queue.name;
    if (!queue.display.empty() && queue.display != queue.name) name += " (" + queue.display + ")";
    listing.table.rows.push_back(
        {{name},
         {view::MilliText(queue.guarantee)},
         {queue.limit ? view::MilliText(*queue.limit) : "-"},
         {view::MilliText(queue.used)},
         {view::MilliText(queue.borrowed)},
         {view::MilliText(queue.lent)},
         {std::to_string(queue.running)},
         {std::to_string(queue.waiting),
          queue.waiting > 0 ? terminal::Tint::kYellow : terminal::Tint::kNone},
         {StateOf(queue, screen)}});
  }
  context.Print(terminal::Render(listing, screen, terminal::Now()));
  if (const auto info = client.Get("/pondage/v1/info")) {
    for (const json::value& text : client::Items(*info, {"promises"}))
      if (text.is_string()) context.Warn(std::string(text.get_string()));
  }
  return terminal::kDone;
}

base::Result<int> ShowQueue(Context& context, client::Client& client, const std::string& name) {
  TRY(const json::value object, client.Get(kQueues + "/" + client::PercentEncode(name)));
  const terminal::Screen& screen = context.screen();
  const QueueView queue = ViewQueue(object);
  if (const auto text = terminal::RenderOne(object, ItemOf(queue), screen)) {
    context.Print(*text);
    return terminal::kDone;
  }
  std::string out =
      screen.Out(terminal::Tint::kBold, queue.name) + "  " + StateOf(queue, screen) + "\n";
  const auto fact = [&](const char* word, const std::string& text) {
    out += "  " + terminal::Pad(screen.Word(word), 12) + text + "\n";
  };
  fact("PARENT", queue.parent.empty() ? "-" : queue.parent);
  fact("GUARANTEE", view::MilliText(queue.guarantee));
  fact("LIMIT", queue.limit ? view::MilliText(*queue.limit) : "-");
  fact("USED", view::MilliText(queue.used));
  fact("BORROWED", view::MilliText(queue.borrowed));
  auto jobs = client::ListAll(client, client::TfJobPath(""));
  if (!jobs) {
    TRY(const std::string space, context.Space());
    jobs = client::ListAll(client, client::TfJobPath(space));
  }
  if (!jobs) return std::unexpected(jobs.error());
  terminal::Table table;
  for (const char* word : {"JOB", "USER", "STATE", "GPUS", "AGE", "REASON"})
    table.headings.push_back(screen.Word(word));
  const base::Instant now = terminal::Now();
  for (const json::value& each : *jobs) {
    const view::JobView job = view::ViewJob(each);
    if (job.queue != name || view::IsEnd(job.state)) continue;
    table.rows.push_back({{job.name},
                          {job.user.empty() ? job.space : job.user},
                          {view::StateWord(job.state, screen.language), view::StateTint(job.state)},
                          {std::to_string(job.gpus)},
                          {terminal::ShortAge(now - job.queued.value_or(job.created))},
                          {view::ReasonText(job, screen, now)}});
  }
  if (!table.rows.empty()) out += "\n" + table.Text(screen);
  context.Print(out);
  return terminal::kDone;
}

base::Result<json::value> ValueOf(const std::string& key, const std::string& value) {
  const auto bad = [&](const char* what) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("{} takes {}, not \"{}\"", key, what, value));
  };
  if (key == "guarantee" || key == "limit") {
    if (value == "none") return json::value(nullptr);
    if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
      return bad("a number of GPUs or none");
    return json::value({{kGpu, value}});
  }
  if (key == "closed" || key == "held") {
    if (value != "true" && value != "false" && value != "yes" && value != "no")
      return bad("true or false");
    return json::value(value == "true" || value == "yes");
  }
  if (key == "max-run") {
    if (value == "none") return json::value(nullptr);
    TRY(const base::Millis length, terminal::ParseLength(value));
    return json::value(length.value / 1000);
  }
  if (value == "none" || value.empty()) return json::value(nullptr);
  return json::value(value);
}

base::Result<int> SetQueue(Context& context, client::Client& client,
                           const std::vector<std::string>& words) {
  if (words.size() < 3)
    return Fail(Kind::kInvalid, "PND-C002", "", "write: queue set NAME KEY=VALUE...");
  json::object spec;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string key = words[i].substr(0, equals);
    static const std::map<std::string, std::string> kKeys{
        {"guarantee", "guarantee"},  {"limit", "limit"},   {"parent", "parent"},
        {"display", "display"},      {"closed", "closed"}, {"held", "held"},
        {"max-run", "maxRunSeconds"}};
    const auto known = kKeys.find(key);
    if (equals == std::string::npos || known == kKeys.end()) {
      return Fail(Kind::kInvalid, "PND-C002", "",
                  fmt::format("\"{}\" is not KEY=VALUE with guarantee, limit, parent, display, "
                              "closed, held or max-run",
                              words[i]));
    }
    TRY(spec[known->second], ValueOf(key, words[i].substr(equals + 1)));
  }
  const std::string path = kQueues + "/" + client::PercentEncode(words[1]);
  auto present = client.Get(path);
  const char* did = context.screen().Pick("changed", "已修改");
  if (present) {
    TRY_DO(client.MergePatch(path, json::object{{"spec", spec}}));
  } else if (present.error().kind == Kind::kNotFound) {
    json::object clean;
    for (const auto& [key, value] : spec) {
      if (!value.is_null()) clean[key] = value;
    }
    TRY_DO(client.Post(kQueues, json::object{{"apiVersion", "pondage.dev/v1alpha1"},
                                             {"kind", "Queue"},
                                             {"metadata", {{"name", words[1]}}},
                                             {"spec", clean}}));
    did = context.screen().Pick("created", "已创建");
  } else {
    return std::unexpected(present.error());
  }
  context.Print(fmt::format("queue/{} {}\n", words[1], did));
  return terminal::kDone;
}

}  // namespace

base::Result<int> QueueMain(Context& context) {
  TRY(client::Client * client, context.Server());
  const auto& words = context.line().words;
  const std::string verb = words.empty() ? "ls" : words[0];
  if (verb == "set") return SetQueue(context, *client, words);
  if (verb == "show") {
    if (words.size() != 2) return Fail(Kind::kInvalid, "PND-C002", "", "write: queue show NAME");
    return ShowQueue(context, *client, words[1]);
  }
  return ListQueues(context, *client);
}

}  // namespace pondage::cmd
