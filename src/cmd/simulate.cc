#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "cmd/meter.h"
#include "cmd/simulate_compare.h"
#include "cmd/simulate_size.h"
#include "replay/history.h"
#include "replay/story.h"
#include "report/report.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "trace/flags.h"
#include "trace/read.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

base::Error AboutFile(const base::Error& error) {
  if (!error.id.empty()) return error;
  const std::string object = error.object.empty() ? "" : error.object + ": ";
  return {base::Kind::kInvalid, "PND-C010", "", object + error.message};
}

constexpr std::string_view kHistory = "history";

base::Result<trace::Workload> OwnHistory(const std::string& path) {
  TRY(const std::string text, trace::Disk("")(path));
  auto workload = replay::ReadHistory(text);
  if (!workload) {
    const base::Error& error = workload.error();
    return base::Fail(error.kind, "", error.object.empty() ? path : error.object, error.message);
  }
  workload->source = path;
  return workload;
}

// What the file says.
base::Result<trace::Workload> ReadFile(const grammar::Invocation& line) {
  const fs::path path = line.words[0];
  if (line.Value("trace") == kHistory) return OwnHistory(path.string());
  const auto format = trace::FormatOf(line.Value("trace", "pondage"));
  trace::Take take{.machines = line.Value("machine-list"), .speeds = line.Value("speeds")};
  if (line.Has("machines")) {
    TRY(take.fleet, trace::MachinesFlag(line.Value("machines")));
  }
  // Files that a workload names stand beside it; those of the command line where it is given.
  const bool ours = *format == trace::Format::kPondage;
  const auto files = trace::Disk(ours ? path.parent_path().string() : "");
  return trace::Read(files, *format, ours ? path.filename().string() : path.string(), take);
}

// The workload, with what the command line says instead.
base::Result<trace::Workload> WorkloadOf(const grammar::Invocation& line) {
  TRY(trace::Workload workload, ReadFile(line));
  if (line.Has("machines")) {
    TRY(workload.fleet, trace::MachinesFlag(line.Value("machines")));
  }
  if (line.Has("policy")) workload.policy.name = line.Value("policy");
  if (line.Has("baseline")) workload.policy.baselines = line.Values("baseline");
  TRY_DO(trace::FaultsFlag(line.Value("faults"), workload.faults));
  TRY_DO(trace::CostsFlag(line.Value("costs"), workload.policy));
  if (workload.fleet.empty()) {
    return base::Fail(base::Kind::kInvalid, "", "", "it names no machines: say --machines 18x8");
  }
  if (workload.jobs.empty()) return base::Fail(base::Kind::kInvalid, "", "", "it holds no job");
  TRY_DO(trace::Check(workload));
  return workload;
}

// What makes the same report again.
std::string CommandText(const grammar::Invocation& line) {
  std::vector<std::string> words = {"pondage", "simulate", line.words[0]};
  for (const grammar::Flag& flag : line.command->flags) {
    if (flag.name == "out" || flag.name == "whole") continue;  // the same figures
    for (const std::string& value : line.Values(flag.name)) {
      words.push_back("--" + std::string(flag.name));
      if (!flag.value.empty()) words.push_back(value);
    }
  }
  return terminal::ShellQuote(words);
}

std::string Length(double seconds) {
  return terminal::ShortAge({static_cast<std::int64_t>(seconds * 1'000)});
}

// A figure as `write` has it; of several seeds its mean and how far the true one may be from it.
std::string FigureText(const report::Result& result, std::string_view name,
                       const std::function<std::string(double)>& write) {
  if (result.seeds.empty()) {
    const auto named = std::ranges::find(report::NamedFigures(), name, &report::NamedFigure::name);
    return write(named->Of(result.figures));
  }
  const report::Interval interval = report::OverSeeds(result.seeds, name);
  return fmt::format("{} ±{}", write(interval.mean), write(interval.half_width));
}

std::string Overview(const report::Report& report, const terminal::Screen& screen) {
  terminal::Table table;
  for (const char* heading : {"RUN", "GPUS", "ARRIVALS", "USE", "WAIT", "WAIT P99", "JCT",
                              "JCT P99", "BOUND", "MAKESPAN", "EVICTIONS/JOB", "LOST GPU-H"}) {
    table.headings.emplace_back(screen.Word(heading));
  }
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  const auto milli = [](double value) { return fmt::format("{:.3f}", value); };
  const auto tenths = [](double value) { return fmt::format("{:.1f}", value); };
  for (const report::Result& result : report.results) {
    const auto& [run, figures, seeds] = result;
    table.rows.push_back({{run.name},
                          {fmt::format("{:g}", static_cast<double>(run.gpu.value) / 1'000)},
                          {fmt::format("{:g}x", static_cast<double>(run.faster_milli) / 1'000)},
                          {FigureText(result, "utilisation", percent)},
                          {FigureText(result, "wait_s.mean", Length)},
                          {FigureText(result, "wait_s.p99", Length)},
                          {FigureText(result, "jct_s.mean", Length)},
                          {FigureText(result, "jct_s.p99", Length)},
                          {figures.bounds ? Length(figures.bounds->mean_jct_s) : "-"},
                          {FigureText(result, "makespan_s", Length)},
                          {FigureText(result, "evictions_per_job", milli)},
                          {FigureText(result, "lost_gpu_hours", tenths)}});
  }
  return table.Text(screen);
}

base::Result<std::string> Written(const report::Report& report, const std::string& ending) {
  if (ending == ".html") return report::ToHtml(report);
  if (ending == ".json") return report::ToJson(report);
  if (ending == ".csv") return report::ToCsv(report);
  return base::Fail(base::Kind::kInvalid, "PND-C002", "",
                    "--out takes FILE.html, FILE.json or FILE.csv");
}

base::Result<void> WriteOut(const Context& context, const report::Report& report) {
  if (!context.line().Has("out")) return {};
  const std::string path = context.line().Value("out");
  TRY(const std::string text, Written(report, fs::path(path).extension().string()));
  std::ofstream file(path, std::ios::trunc | std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    return base::Fail(base::Kind::kInvalid, "PND-C010", "", fmt::format("cannot write {}", path));
  }
  context.Note(fmt::format("{}\n", path));
  return {};
}

report::Report ReportOf(const grammar::Invocation& line, const trace::Workload& workload,
                        std::vector<report::Result> results) {
  return {.title = line.words[0],
          .source = fmt::format("{}, {} jobs", fs::path(line.words[0]).filename().string(),
                                workload.jobs.size()),
          .command = CommandText(line),
          .results = std::move(results)};
}

std::string TextOf(const report::Report& report, const terminal::Screen& screen) {
  if (screen.format == terminal::Format::kJson) return report::ToJson(report);
  if (screen.format == terminal::Format::kCsv) return report::ToCsv(report);
  return Overview(report, screen);
}

// One invocation: its workload, and how it is played.
struct Order {
  trace::Workload workload;
  replay::Options options;
  int seeds = 1;
};

struct Answer {
  std::string text;
  std::optional<report::Report> report;  // for --out
};

base::Result<Answer> Compare(const Context& context, const Order& order,
                             const replay::OnRun& begin) {
  const std::vector<std::string> names = context.line().Values("compare");
  TRY(const replay::Comparison comparison,
      replay::Compare(order.workload, names[0], names[1], order.options, kShownPartings, begin));
  return Answer{.text = ComparisonText(comparison, context.screen()), .report = {}};
}

base::Result<Answer> Size(const Context& context, const Order& order, const replay::OnRun& begin) {
  TRY(const auto targets, replay::TargetsOf(context.line().Value("size-for")));
  TRY(replay::Sized sized,
      replay::SizeFor(order.workload, targets, order.options, order.seeds, begin));
  Answer answer{.text = SizedText(sized, targets, context.screen()), .report = {}};
  std::vector<report::Result> results;
  if (sized.below) results.push_back(*std::move(sized.below));
  results.push_back(std::move(sized.fewest));
  answer.report = ReportOf(context.line(), order.workload, std::move(results));
  return answer;
}

base::Result<Answer> Report(const Context& context, const Order& order,
                            const replay::OnRun& begin) {
  TRY(auto results, replay::PlayStory(order.workload, order.options, order.seeds, begin));
  report::Report report = ReportOf(context.line(), order.workload, std::move(results));
  return Answer{.text = TextOf(report, context.screen()), .report = std::move(report)};
}

// Flags that do not go together.
base::Result<void> CheckTogether(const grammar::Invocation& line) {
  constexpr std::pair<const char*, const char*> kApart[] = {
      {"compare", "out"},   {"compare", "baseline"}, {"compare", "policy"},
      {"compare", "seeds"}, {"compare", "size-for"}, {"size-for", "baseline"}};
  if (line.Has("out")) TRY_DO(Written({}, fs::path(line.Value("out")).extension().string()));
  for (const auto& [one, other] : kApart) {
    if (!line.Has(one) || !line.Has(other)) continue;
    return base::Fail(base::Kind::kInvalid, "PND-C002", "",
                      fmt::format("--{} does not go with --{}", one, other));
  }
  return {};
}

base::Result<Order> OrderOf(const grammar::Invocation& line) {
  TRY_DO(CheckTogether(line));
  auto workload = WorkloadOf(line);
  if (!workload) return std::unexpected(AboutFile(workload.error()));
  TRY(const std::int64_t seed, line.Number("seed", 1, 0, 1'000'000'000));
  TRY(const std::int64_t seeds, line.Number("seeds", 1, 1, 10'000));
  if (seeds > 1 && !workload->faults.LeavesToChance()) {
    return base::Fail(base::Kind::kInvalid, "PND-C002", "",
                      "--seeds: nothing here is left to chance; say what is, as --faults mtbf=30d");
  }
  return Order{.workload = *std::move(workload),
               .options = {.seed = static_cast<std::uint64_t>(seed), .server = line.Has("whole")},
               .seeds = static_cast<int>(seeds)};
}

}  // namespace

base::Result<int> SimulateMain(Context& context) {
  TRY(Order order, OrderOf(context.line()));
  Meter meter(context.screen());
  const replay::OnRun begin = [&](const std::string& name, std::size_t number, std::size_t of) {
    meter.Begin(name, number, of);
  };
  order.options.on_progress = [&meter](const replay::Progress& at) { meter.Show(at); };
  const auto answer = context.line().Has("compare")    ? Compare
                      : context.line().Has("size-for") ? Size
                                                       : Report;
  const auto answered = answer(context, order, begin);
  meter.End();
  if (!answered) return std::unexpected(AboutFile(answered.error()));
  if (answered->report) TRY_DO(WriteOut(context, *answered->report));
  context.Print(answered->text);
  return terminal::kDone;
}

}  // namespace pondage::cmd
