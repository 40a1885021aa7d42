#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "report/json.h"
#include "report/page_parts.h"
#include "report/report.h"

namespace pondage::report {

namespace json = boost::json;

namespace {

constexpr int kBuckets = 600;               // of the curves over time
constexpr int kSteps = 200;                 // of the distribution of completion times
constexpr std::size_t kLargestGantt = 400;  // jobs

// Four significant digits: the page needs no more, and stays small.
double Short(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

json::object CourseJson(const Run& run) {
  json::array at, held, waiting;
  for (const Moment& moment : Course(run, kBuckets)) {
    at.push_back(std::round(moment.at_s));
    held.push_back(Short(moment.held));
    waiting.push_back(Short(moment.waiting));
  }
  return {{"at_s", std::move(at)}, {"held", std::move(held)}, {"waiting", std::move(waiting)}};
}

// Completion times that 0, 0.5, ... 100 % of the jobs stay below.
json::array Quantiles(const Run& run) {
  std::vector<double> jcts;
  for (const Job& job : run.jobs) {
    if (job.finished && !job.stays.empty()) {
      jcts.push_back(static_cast<double>((job.stays.back().to - job.submit).value) / 1'000);
    }
  }
  std::ranges::sort(jcts);
  json::array out;
  for (int i = 0; i <= kSteps && !jcts.empty(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * (jcts.size() - 1) / kSteps;
    out.push_back(Short(jcts[at]));
  }
  return out;
}

json::array Gantt(const Run& run) {
  json::array rows;
  if (run.jobs.empty() || run.jobs.size() > kLargestGantt) return rows;
  const base::Instant first = run.jobs.front().submit;
  const auto since = [&](base::Instant at) {
    return static_cast<double>((at - first).value) / 1'000;
  };
  for (const Job& job : run.jobs) {
    json::array stays;
    for (const Stay& stay : job.stays)
      stays.push_back(json::array{since(stay.from), since(stay.to)});
    rows.push_back(json::object{{"name", job.name},
                                {"queue", job.queue},
                                {"gpus", static_cast<double>(job.gpu.value) / 1'000},
                                {"submit_s", since(job.submit)},
                                {"stays", std::move(stays)}});
  }
  return rows;
}

json::object Data(const Report& report) {
  json::array runs;
  for (const Result& result : report.results) {
    json::object run = ResultJson(report, result);
    run["course"] = CourseJson(result.run);
    run["jct_quantiles_s"] = Quantiles(result.run);
    run["gantt"] = Gantt(result.run);
    runs.push_back(std::move(run));
  }
  return {{"title", report.title},
          {"source", report.source},
          {"command", report.command},
          {"version", report.version},
          {"runs", std::move(runs)}};
}

// Inside a script element only "</" and "<!--" could end or change it.
std::string Inlined(std::string text) {
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

}  // namespace

std::string ToHtml(const Report& report) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>Pondage</title>\n<style>\n";
  page += kUplotStyle;
  page += kPageStyle;
  page += "</style>\n</head>\n<body>\n";
  page += kPageBody;
  page += "<script type=\"application/json\" id=\"data\">";
  page += Inlined(json::serialize(Data(report)));
  page += "</script>\n<script>\n";
  page += kUplotScript;
  page += "\n</script>\n<script>\n";
  page += kPageScript;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace pondage::report
