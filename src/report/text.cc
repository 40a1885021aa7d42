// JSON and CSV.

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "report/json.h"
#include "report/report.h"

namespace pondage::report {

namespace json = boost::json;

namespace {

json::object SpreadJson(const Spread& spread) {
  return {{"mean", spread.mean},
          {"p50", spread.p50},
          {"p90", spread.p90},
          {"p99", spread.p99},
          {"max", spread.most}};
}

json::object FiguresJson(const Figures& figures) {
  json::array queues;
  for (const QueueFigures& queue : figures.queues) {
    queues.push_back(json::object{{"queue", queue.queue},
                                  {"jobs", queue.jobs},
                                  {"gpu_hours", queue.gpu_hours},
                                  {"wait_s", SpreadJson(queue.wait_s)}});
  }
  json::object out{{"jobs", figures.jobs},
                   {"unfinished", figures.unfinished},
                   {"cut", figures.cut},
                   {"jct_s", SpreadJson(figures.jct_s)},
                   {"wait_s", SpreadJson(figures.wait_s)},
                   {"makespan_s", figures.makespan_s},
                   {"utilisation", figures.utilisation},
                   {"window_s", figures.window_s},
                   {"evictions_per_job", figures.evictions_per_job},
                   {"moves_per_job", figures.moves_per_job},
                   {"failures_per_job", figures.failures_per_job},
                   {"lost_gpu_hours", figures.lost_gpu_hours},
                   {"queues", std::move(queues)}};
  if (figures.bounds) {
    out["bounds"] = json::object{{"jct_mean_s", figures.bounds->mean_jct_s},
                                 {"duration_mean_s", figures.bounds->mean_duration_s},
                                 {"makespan_s", figures.bounds->makespan_s},
                                 {"utilisation", figures.bounds->utilisation},
                                 {"load", figures.bounds->load}};
  }
  return out;
}

const Figures* IslandsOf(const Report& report, const Run& run) {
  for (const Result& result : report.results) {
    if (result.run.islands && result.run.faster_milli == run.faster_milli) return &result.figures;
  }
  for (const Result& result : report.results) {
    if (result.run.islands) return &result.figures;
  }
  return nullptr;
}

std::string Seconds(std::int64_t ms) {
  return fmt::format("{}{}.{:03}", ms < 0 ? "-" : "", std::abs(ms) / 1'000, std::abs(ms) % 1'000);
}

}  // namespace

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

json::object ResultJson(const Report& report, const Result& result) {
  const Run& run = result.run;
  json::object out{{"name", run.name},
                   {"policy", run.policy},
                   {"machines", run.machines},
                   {"gpus", static_cast<double>(run.gpu.value) / 1'000},
                   {"islands", run.islands},
                   {"faster", static_cast<double>(run.faster_milli) / 1'000},
                   {"seed", run.seed},
                   {"costs", run.costs},
                   {"figures", FiguresJson(result.figures)}};
  if (!result.seeds.empty()) {
    json::object intervals;
    for (const NamedFigure& figure : NamedFigures()) {
      const Interval interval = OverSeeds(result.seeds, figure.name);
      intervals[figure.name] =
          json::object{{"mean", interval.mean}, {"half_width_95", interval.half_width}};
    }
    out["seeds"] = json::object{
        {"first", run.seed}, {"count", result.seeds.size()}, {"figures", std::move(intervals)}};
  }
  const Figures* islands = run.islands ? nullptr : IslandsOf(report, run);
  if (islands != nullptr) {
    if (const auto worst = WorstAgainst(result.figures, *islands)) {
      out["worst_against_island"] = json::object{
          {"queue", worst->queue}, {"alone_s", worst->alone_s}, {"here_s", worst->here_s}};
    } else {
      out["worst_against_island"] = nullptr;
    }
  }
  return out;
}

Report ReportOf(std::string title, std::string source, std::string command, std::vector<Run> runs) {
  Report report{std::move(title), std::move(source), std::move(command), PONDAGE_VERSION, {}};
  for (Run& run : runs) {
    Figures figures = FiguresOf(run);
    report.results.push_back({.run = std::move(run), .figures = std::move(figures)});
  }
  return report;
}

std::string ToJson(const Report& report) {
  json::array runs;
  for (const Result& result : report.results) runs.push_back(ResultJson(report, result));
  const json::object out{{"title", report.title},
                         {"source", report.source},
                         {"command", report.command},
                         {"version", report.version},
                         {"runs", std::move(runs)}};
  return json::serialize(out) + "\n";
}

namespace {

std::string SeedsCsv(const Report& report) {
  std::string out = "run,policy,first_seed,seeds,figure,mean,half_width_95\n";
  for (const Result& result : report.results) {
    for (const NamedFigure& figure : NamedFigures()) {
      const Interval interval = OverSeeds(result.seeds, figure.name);
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{:.6f},{:.6f}\n",
                     CsvCell(result.run.name), CsvCell(result.run.policy), result.run.seed,
                     result.seeds.size(), figure.name, interval.mean, interval.half_width);
    }
  }
  return out;
}

}  // namespace

std::string ToCsv(const Report& report) {
  const bool has_seeds = !report.results.empty() && !report.results.front().seeds.empty();
  if (has_seeds) return SeedsCsv(report);
  std::string out =
      "run,policy,job,queue,user,gpus,submit_s,start_s,end_s,wait_s,cut,evictions,moves,failures,"
      "lost_gpu_hours\n";
  for (const Result& result : report.results) {
    const Run& run = result.run;
    for (const Job& job : run.jobs) {
      const bool started = !job.stays.empty();
      const std::int64_t submit = job.submit.unix_ms;
      const std::int64_t start = started ? job.stays.front().from.unix_ms : 0;
      const std::int64_t end = started ? job.stays.back().to.unix_ms : 0;
      const std::int64_t wait = job.duration ? end - submit - job.duration->value : start - submit;
      const bool ended = started && job.finished;
      fmt::format_to(std::back_inserter(out),
                     "{},{},{},{},{},{:g},{},{},{},{},{},{},{},{},{:.6f}\n", CsvCell(run.name),
                     CsvCell(run.policy), CsvCell(job.name), CsvCell(job.queue), CsvCell(job.user),
                     static_cast<double>(job.gpu.value) / 1'000, Seconds(submit),
                     started ? Seconds(start) : "", ended ? Seconds(end) : "",
                     ended ? Seconds(wait) : "", job.cut ? 1 : 0, job.evictions, job.moves,
                     job.failures, static_cast<double>(job.lost_milli_gpu_ms) / 3.6e9);
    }
  }
  return out;
}

}  // namespace pondage::report
