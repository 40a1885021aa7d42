#include <fmt/core.h>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/amounts.h"
#include "view/pool_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

std::string TypeOf(const view::NodeView& node) {
  if (node.gpus.empty()) return "-";
  return node.gpus[0].TypeText();
}

std::size_t Held(const view::NodeView& node) {
  std::size_t held = 0;
  for (const view::GpuView& gpu : node.gpus) held += gpu.held ? 1 : 0;
  return held;
}

std::size_t Foreign(const view::NodeView& node) {
  std::size_t foreign = 0;
  for (const view::GpuView& gpu : node.gpus) foreign += gpu.foreign ? 1 : 0;
  return foreign;
}

terminal::Tint HealthTint(const std::string& health) {
  return health == "ready"      ? terminal::Tint::kGreen
         : health == "cordoned" ? terminal::Tint::kYellow
                                : terminal::Tint::kRed;
}

json::object GpuItem(const view::GpuView& gpu) {
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? json::value(*value) : json::value(nullptr);
  };
  const auto text = [](const std::string& value) {
    return value.empty() ? json::value(nullptr) : json::value(value);
  };
  return {{"index", gpu.index},
          {"id", gpu.id},
          {"type", gpu.type},
          {"virtual", gpu.is_virtual},
          {"healthy", gpu.healthy},
          {"foreign", gpu.foreign},
          {"held", gpu.held},
          {"memoryBytes", gpu.memory_bytes},
          {"memoryUsedBytes", number(gpu.memory_used_bytes)},
          {"gpuUtilPercent", number(gpu.utilisation_percent)},
          {"temperatureCelsius", number(gpu.temperature_c)},
          {"powerWatts", number(gpu.power_w)},
          {"job", text(gpu.job)},
          {"replica", text(gpu.replica)},
          {"user", text(gpu.user)}};
}

json::object NodeItem(const view::NodeView& node) {
  json::array gpus;
  for (const view::GpuView& gpu : node.gpus) gpus.push_back(GpuItem(gpu));
  return {{"name", node.name},
          {"health", node.health},
          {"driver", node.driver.empty() ? json::value(nullptr) : json::value(node.driver)},
          {"cpuMilli", node.cpu_milli},
          {"memoryBytes", node.memory_bytes},
          {"gpus", static_cast<std::int64_t>(node.gpus.size())},
          {"gpusHeld", static_cast<std::int64_t>(Held(node))},
          {"gpusForeign", static_cast<std::int64_t>(Foreign(node))},
          {"gpuList", std::move(gpus)}};
}

base::Result<int> ListNodes(Context& context, const view::PoolView& pool) {
  const terminal::Screen& screen = context.screen();
  terminal::Listing listing;
  listing.schema = "pondage.nodes/1";
  for (const char* word : {"NODE", "HEALTH", "GPUS", "USED", "TYPE", "CPU", "MEMORY", "AGE"}) {
    listing.table.headings.push_back(screen.Word(word));
  }
  listing.table.headings.emplace_back(screen.Pick("OTHERS", "池外"));
  const base::Instant now = terminal::Now();
  for (const view::NodeView& node : pool.nodes) {
    listing.items.push_back(NodeItem(node));
    listing.table.rows.push_back(
        {{node.name},
         {screen.Word(node.health), HealthTint(node.health)},
         {std::to_string(node.gpus.size())},
         {std::to_string(Held(node))},
         {TypeOf(node)},
         {view::MilliText(node.cpu_milli)},
         {terminal::SizeText({node.memory_bytes})},
         {terminal::ShortAge(now - node.created)},
         {std::to_string(Foreign(node)),
          Foreign(node) > 0 ? terminal::Tint::kYellow : terminal::Tint::kNone}});
  }
  context.Print(terminal::Render(listing, screen, now));
  return terminal::kDone;
}

std::string GpuState(const view::GpuView& gpu, const terminal::Screen& screen) {
  if (!gpu.healthy) return screen.Word("unhealthy");
  if (gpu.foreign) return screen.Pick("used by a stranger's process", "被池外进程占用");
  if (!gpu.held) return screen.Pick("free", "空闲");
  return gpu.job.empty() ? std::string(screen.Pick("held by others", "被他人占用"))
                         : fmt::format("{} {}", gpu.job, gpu.replica);
}

base::Error NoNode(client::Client& client, const std::string& name) {
  return {Kind::kNotFound, "PND-C002", "",
          fmt::format("no node \"{}\"{}", name, client::ThereAre(client, "/api/v1/nodes"))};
}

base::Result<int> ShowNode(Context& context, client::Client& client, const view::PoolView& pool,
                           const std::string& name) {
  const terminal::Screen& screen = context.screen();
  for (const view::NodeView& node : pool.nodes) {
    if (node.name != name) continue;
    TRY(const json::value object, client.Get("/api/v1/nodes/" + client::PercentEncode(name)));
    if (const auto text = terminal::RenderOne(object, NodeItem(node), screen)) {
      context.Print(*text);
      return terminal::kDone;
    }
    std::string out = fmt::format("{}  {}\n", screen.Out(terminal::Tint::kBold, node.name),
                                  screen.Out(HealthTint(node.health), screen.Word(node.health)));
    const auto fact = [&](const std::string& word, const std::string& text) {
      if (!text.empty()) out += "  " + terminal::Pad(word, 12) + text + "\n";
    };
    fact(screen.Pick("address", "地址"), node.address);
    fact(screen.Pick("system", "系统"), node.os);
    fact(screen.Pick("driver", "驱动"), node.driver.empty() ? pool.driver : node.driver);
    fact("CPU", view::MilliText(node.cpu_milli));
    fact(screen.Pick("memory", "内存"), terminal::SizeText({node.memory_bytes}));
    terminal::Table table;
    for (const char* word : {"GPU", "TYPE", "MEMORY", "USER", "JOB"})
      table.headings.push_back(screen.Word(word));
    for (const view::GpuView& gpu : node.gpus) {
      table.rows.push_back(
          {{std::to_string(gpu.index)},
           {gpu.TypeText()},
           {terminal::SizeText({gpu.memory_bytes})},
           {gpu.user.empty() ? "-" : gpu.user},
           {GpuState(gpu, screen),
            gpu.healthy && !gpu.foreign ? terminal::Tint::kNone : terminal::Tint::kYellow}});
    }
    if (!table.rows.empty()) out += "\n" + table.Text(screen);
    context.Print(out);
    return terminal::kDone;
  }
  return std::unexpected(NoNode(client, name));
}

}  // namespace

base::Result<int> NodesMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const auto& words = context.line().words;
  const std::string verb = words.empty() ? "ls" : words[0];
  if (verb != "ls" && words.size() != 2) {
    return Fail(Kind::kInvalid, "PND-C002", "", fmt::format("write: nodes {} NODE", verb));
  }
  if (verb == "drain" || verb == "undrain") {
    const bool drain = verb == "drain";
    const auto changed = client->MergePatch(
        "/api/v1/nodes/" + client::PercentEncode(words[1]),
        json::object{
            {"spec", {{"unschedulable", drain ? json::value(true) : json::value(nullptr)}}}});
    if (!changed) {
      return std::unexpected(changed.error().kind == Kind::kNotFound ? NoNode(*client, words[1])
                                                                     : changed.error());
    }
    context.Print(fmt::format("node/{} {}\n", words[1],
                              drain ? context.screen().Pick("takes no new jobs; what runs stays",
                                                            "不再接受新作业; 正在运行的不受影响")
                                    : context.screen().Pick("takes jobs again", "重新接受作业")));
    return terminal::kDone;
  }
  TRY(const view::PoolView pool, view::LookAtPool(*client, space));
  return verb == "show" ? ShowNode(context, *client, pool, words[1]) : ListNodes(context, pool);
}

}  // namespace pondage::cmd
