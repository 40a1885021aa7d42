#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "replay/compare.h"
#include "report/report.h"
#include "terminal/progress.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "trace/flags.h"
#include "trace/read.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

base::Error AboutFile(const base::Error& error) {
  const std::string object = error.object.empty() ? "" : error.object + ": ";
  return {base::Kind::kInvalid, "PND-C010", "", object + error.message};
}

// The workload, with what the command line says instead.
base::Result<trace::Workload> WorkloadOf(const grammar::Invocation& line) {
  const fs::path path = line.words[0];
  const auto format = trace::FormatOf(line.Value("trace", "pondage"));
  trace::Take take{.machines = line.Value("machine-list"), .speeds = line.Value("speeds")};
  if (line.Has("machines")) {
    TRY(take.fleet, trace::MachinesFlag(line.Value("machines")));
  }
  // Files that a workload names stand beside it; those of the command line where it is given.
  const bool ours = *format == trace::Format::kPondage;
  const auto files = trace::Disk(ours ? path.parent_path().string() : "");
  TRY(trace::Workload workload,
      trace::Read(files, *format, ours ? path.filename().string() : path.string(), take));
  if (!take.fleet.empty()) workload.fleet = take.fleet;
  if (line.Has("policy")) workload.policy.name = line.Value("policy");
  if (line.Has("compare")) workload.policy.compare = line.Values("compare");
  TRY_DO(trace::FaultsFlag(line.Value("faults"), workload.faults));
  TRY_DO(trace::CostsFlag(line.Value("costs"), workload.policy));
  if (workload.fleet.empty()) {
    return base::Fail(base::Kind::kInvalid, "", "", "it names no machines: say --machines 18x8");
  }
  if (workload.jobs.empty()) return base::Fail(base::Kind::kInvalid, "", "", "it holds no job");
  TRY_DO(trace::Check(workload));
  return workload;
}

// Drawn over in place, on a terminal alone: how far this run is, how fast, and how long it will
// take.
class Meter {
 public:
  explicit Meter(const terminal::Screen& screen) : screen_(screen), progress_(screen) {}

  void Begin(const std::string& name, std::size_t number, std::size_t of) {
    title_ = fmt::format("{} ({}/{})", name, number, of);
    began_ = std::chrono::steady_clock::now();
    if (screen_.err_is_terminal) progress_.Show(title_);
  }

  void Show(const replay::Progress& at) {
    const auto now = std::chrono::steady_clock::now();
    if (!screen_.err_is_terminal || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    constexpr std::size_t kWidth = 20;
    const std::size_t full = kWidth * at.finished / at.jobs;
    const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
    const double rate = static_cast<double>(at.finished) / Seconds(now - began_).count();
    std::string left;
    if (rate > 0) {
      const auto ms =
          static_cast<std::int64_t>(1'000 * static_cast<double>(at.jobs - at.finished) / rate);
      left =
          fmt::format(fmt::runtime(screen_.Pick("{} left", "还需 {}")), terminal::ShortAge({ms}));
    }
    progress_.Show(
        fmt::format(fmt::runtime(screen_.Pick("{} [{}] {} of {} jobs, {:.0f} jobs/s, {}",
                                              "{} [{}] {} / {} 个作业, 每秒 {:.0f} 个, {}")),
                    title_, bar, at.finished, at.jobs, rate, left));
  }
  void End() { progress_.Clear(); }

 private:
  const terminal::Screen& screen_;
  terminal::Progress progress_;
  std::string title_;
  std::chrono::steady_clock::time_point began_, shown_{};
};

std::string Length(double seconds) {
  return terminal::ShortAge({static_cast<std::int64_t>(seconds * 1'000)});
}

std::string Overview(const report::Report& report, const terminal::Screen& screen) {
  terminal::Table table;
  for (const char* heading : {"RUN", "GPUS", "ARRIVALS", "USE", "WAIT", "WAIT P99", "JCT",
                              "JCT P99", "BOUND", "MAKESPAN", "EVICTIONS/JOB", "LOST GPU-H"}) {
    table.headings.emplace_back(screen.Word(heading));
  }
  for (const auto& [run, figures] : report.results) {
    table.rows.push_back({{run.name},
                          {fmt::format("{:g}", static_cast<double>(run.gpu.value) / 1'000)},
                          {fmt::format("{:g}x", static_cast<double>(run.faster_milli) / 1'000)},
                          {fmt::format("{:.1f} %", 100 * figures.utilisation)},
                          {Length(figures.wait_s.mean)},
                          {Length(figures.wait_s.p99)},
                          {Length(figures.jct_s.mean)},
                          {Length(figures.jct_s.p99)},
                          {figures.bounds ? Length(figures.bounds->mean_jct_s) : "-"},
                          {Length(figures.makespan_s)},
                          {fmt::format("{:.3f}", figures.evictions_per_job)},
                          {fmt::format("{:.1f}", figures.lost_gpu_hours)}});
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

}  // namespace

base::Result<int> SimulateMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (line.Has("out")) TRY_DO(Written({}, fs::path(line.Value("out")).extension().string()));
  auto workload = WorkloadOf(line);
  if (!workload) return std::unexpected(AboutFile(workload.error()));
  TRY(const std::int64_t seed, line.Number("seed", 1, 0, 1'000'000'000));

  Meter meter(context.screen());
  replay::Options options{.seed = static_cast<std::uint64_t>(seed), .server = line.Has("whole")};
  options.on_progress = [&meter](const replay::Progress& at) { meter.Show(at); };
  auto runs = replay::PlayStory(*workload, options,
                                [&](const std::string& name, std::size_t number, std::size_t of) {
                                  meter.Begin(name, number, of);
                                });
  meter.End();
  if (!runs) return std::unexpected(AboutFile(runs.error()));
  const report::Report report = report::ReportOf(
      line.words[0],
      fmt::format("{}, {} jobs", fs::path(line.words[0]).filename().string(),
                  workload->jobs.size()),
      "pondage simulate " + terminal::ShellQuote({line.words[0]}), *std::move(runs));
  TRY_DO(WriteOut(context, report));
  switch (context.screen().format) {
    case terminal::Format::kJson:
      context.Print(report::ToJson(report));
      break;
    case terminal::Format::kCsv:
      context.Print(report::ToCsv(report));
      break;
    default:
      context.Print(Overview(report, context.screen()));
  }
  return terminal::kDone;
}

}  // namespace pondage::cmd
