#include "view/top_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "terminal/text.h"

namespace pondage::view {
namespace {

constexpr int kBar = 20;

terminal::Tint LoadTint(std::int64_t percent) {
  return percent >= 75   ? terminal::Tint::kGreen
         : percent >= 25 ? terminal::Tint::kYellow
                         : terminal::Tint::kRed;
}

std::string ValueText(const std::optional<std::int64_t>& value, const char* unit) {
  return value ? fmt::format("{}{}", *value, unit) : "-";
}

std::string Owner(const GpuView& gpu, const terminal::Screen& screen) {
  if (!gpu.healthy) return screen.Out(terminal::Tint::kRed, screen.Word("unhealthy"));
  if (gpu.foreign)
    return screen.Out(terminal::Tint::kYellow, screen.Pick("stranger's process", "池外进程"));
  if (!gpu.held) return screen.Out(terminal::Tint::kDim, screen.Pick("free", "空闲"));
  if (gpu.job.empty()) return screen.Pick("held by others", "被他人占用");
  return fmt::format("{}  {} {}", terminal::Plain(gpu.user), terminal::Plain(gpu.job), gpu.replica);
}

// [index  name  temperature power | load bar | memory bar | owner job]
std::string GpuLine(const GpuView& gpu, const terminal::Screen& screen, int name_width) {
  std::string line = fmt::format(
      " {:>3}  {}  {:>4} {:>5}  ", gpu.index,
      terminal::Pad(terminal::Fit(gpu.TypeText(), name_width, screen.ascii), name_width),
      ValueText(gpu.temperature_c, "C"), ValueText(gpu.power_w, "W"));
  if (gpu.utilisation_percent) {
    line += fmt::format("GPU {} {:>3}%  ",
                        screen.Out(LoadTint(*gpu.utilisation_percent),
                                   terminal::Bar(static_cast<int>(*gpu.utilisation_percent * 10),
                                                 kBar, screen.ascii)),
                        *gpu.utilisation_percent);
  } else {
    // Without a reading, held or free is all that is known.
    line += fmt::format("GPU {}   -   ", gpu.held ? terminal::Pad(screen.Pick("held", "占用"), kBar)
                                                  : std::string(kBar, ' '));
  }
  if (gpu.memory_used_bytes && gpu.memory_bytes > 0) {
    const auto permille = static_cast<int>(*gpu.memory_used_bytes / 1024 * 1000 /
                                           std::max<std::int64_t>(gpu.memory_bytes / 1024, 1));
    line += fmt::format(
        "MEM {} {:>8}/{}  ",
        screen.Out(terminal::Tint::kCyan, terminal::Bar(permille, kBar / 2, screen.ascii)),
        terminal::SizeText({*gpu.memory_used_bytes}), terminal::SizeText({gpu.memory_bytes}));
  } else {
    line += fmt::format("MEM {:>9}  ", terminal::SizeText({gpu.memory_bytes}));
  }
  return line + Owner(gpu, screen);
}

void AddGpus(const PoolView& pool, const terminal::Screen& screen,
             std::vector<std::string>& lines) {
  int name_width = 8;
  for (const NodeView& node : pool.nodes) {
    for (const GpuView& gpu : node.gpus) {
      name_width = std::clamp(terminal::Width(gpu.TypeText()), name_width, 28);
    }
  }
  for (const NodeView& node : pool.nodes) {
    std::size_t held = 0;
    for (const GpuView& gpu : node.gpus) held += gpu.held ? 1 : 0;
    lines.push_back(fmt::format(
        "{}  {}  {}", screen.Out(terminal::Tint::kBold, node.name), screen.Word(node.health),
        fmt::format(fmt::runtime(screen.Pick("{} of {} GPUs held", "占用 {} / {} 块 GPU")), held,
                    node.gpus.size())));
    for (const GpuView& gpu : node.gpus) lines.push_back(GpuLine(gpu, screen, name_width));
  }
}

std::vector<const JobView*> Ordered(const PoolView& pool, TopOrder order) {
  std::vector<const JobView*> jobs;
  jobs.reserve(pool.jobs.size());
  for (const JobView& job : pool.jobs) jobs.push_back(&job);
  std::ranges::stable_sort(jobs, [order](const JobView* a, const JobView* b) {
    switch (order) {
      case TopOrder::kGpus:
        return a->gpus > b->gpus;
      case TopOrder::kAge:
        return a->created < b->created;
      case TopOrder::kUser:
        return a->user < b->user;
      case TopOrder::kName:
        break;
    }
    return a->name < b->name;
  });
  return jobs;
}

void AddJobs(const PoolView& pool, const TopState& state, const terminal::Screen& screen,
             base::Instant now, std::vector<std::string>& lines) {
  terminal::Table table;
  for (const char* word : {"JOB", "USER", "QUEUE", "STATE", "GPUS", "AGE", "REASON"})
    table.headings.push_back(screen.Word(word));
  for (const JobView* job : Ordered(pool, state.order)) {
    table.rows.push_back({{job->name},
                          {job->user.empty() ? job->space : job->user},
                          {job->queue},
                          {StateWord(job->state, screen.language), StateTint(job->state)},
                          {std::to_string(job->gpus)},
                          {terminal::ShortAge(now - job->created)},
                          {ReasonText(*job, screen, now)}});
  }
  if (table.rows.empty()) {
    lines.emplace_back(screen.Pick("no unfinished jobs", "没有未结束的作业"));
    return;
  }
  terminal::Screen narrow = screen;
  narrow.header = true;
  narrow.columns = screen.columns - 2;
  auto text = terminal::Split(table.Text(narrow), '\n');
  if (!text.empty() && text.back().empty()) text.pop_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool chosen = screen.out_is_terminal && i == state.chosen + 1;
    lines.push_back((chosen ? "> " : "  ") + text[i]);
  }
}

}  // namespace

std::string Sparkline(const std::vector<int>& percents, bool ascii) {
  static constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kPlain = "_.-=+*#@";
  std::string out;
  for (const int percent : percents) {
    const int level = std::clamp(percent, 0, 99) * 8 / 100;
    out += ascii ? std::string(1, kPlain[level]) : std::string(kLevels[level]);
  }
  return out;
}

std::vector<std::string> TopLines(const PoolView& pool, const TopState& state,
                                  const terminal::Screen& screen, base::Instant now, int height) {
  std::vector<std::string> lines;
  std::string title = fmt::format("{}  {}", screen.Out(terminal::Tint::kBold, "pondage top"),
                                  terminal::ClockText(now));
  if (!pool.driver.empty()) title += fmt::format("  driver {}  CUDA {}", pool.driver, pool.cuda);
  if (!state.stale.empty())
    title +=
        "  " + screen.Out(terminal::Tint::kRed,
                          fmt::format(fmt::runtime(screen.Pick("STALE since {}", "自 {} 起未更新")),
                                      state.stale));
  static constexpr const char* kOrderNames[] = {"name", "GPUs", "age", "user"};
  if (screen.out_is_terminal) {
    title += screen.Out(terminal::Tint::kDim,
                        fmt::format(fmt::runtime(screen.Pick("  by {}  h help  q quit",
                                                             "  按 {} 排序  h 帮助  q 退出")),
                                    kOrderNames[static_cast<int>(state.order)]));
  }
  lines.push_back(title);
  if (state.help) {
    for (const char* line :
         {screen.Pick("q      quit", "q      退出"),
          screen.Pick("up, down, k, j, Home, End  choose a job",
                      "上下键, k, j, Home, End  选择作业"),
          screen.Pick("PgUp, PgDn  scroll", "PgUp, PgDn  滚动"),
          screen.Pick("s . ,  order by name, GPUs, age, user; back",
                      "s . ,  按名称, GPU, 时长, 用户排序; 反向"),
          screen.Pick("g      GPUs and jobs, GPUs, jobs", "g      GPU 和作业, GPU, 作业"),
          screen.Pick("h ?    this page", "h ?    本页")}) {
      lines.emplace_back(std::string("  ") + line);
    }
    return lines;
  }
  std::vector<std::string> body;
  if (state.show_gpus) AddGpus(pool, screen, body);
  if (state.show_gpus && state.show_jobs) body.emplace_back();
  if (state.show_jobs) AddJobs(pool, state, screen, now, body);
  const std::size_t room = height <= 2 ? body.size() : static_cast<std::size_t>(height - 2);
  const std::size_t first = std::min(state.scrolled, body.size() > room ? body.size() - room : 0);
  for (std::size_t i = first; i < body.size() && i < first + room; ++i) lines.push_back(body[i]);
  if (height > 0) {
    lines.push_back(
        screen.Out(terminal::Tint::kDim, screen.Pick("q quit  s sort  g GPUs  j jobs  h help",
                                                     "q 退出  s 排序  g GPU  j 作业  h 帮助")));
  }
  return lines;
}

}  // namespace pondage::view
