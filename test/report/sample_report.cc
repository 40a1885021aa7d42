// Writes a report for the browser test: `sample_report three-teams|small FILE.html`. The runs are
// those of the plain policies.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "baseline/plain.h"
#include "report/report.h"
#include "trace/yaml.h"

namespace pondage {
namespace {

constexpr std::string_view kSmall = R"(
fleet: [{servers: 2, gpus: 8}]
jobs:
  - {name: big, queue: vision, gpus: 16, lasts: 3h, submitted: 30m}
  - {name: sweep, queue: nlp, gpus: 2, lasts: 50m, times: 12, every: 9m}
  - {name: eval, queue: vision, gpus: 1, lasts: 20m, times: 8, every: 25m, submitted: 10m}
)";

report::Run Play(const std::string& name, std::vector<trace::Job> jobs, int machines,
                 std::int64_t faster_milli) {
  trace::Hurry(jobs, faster_milli);
  std::vector<baseline::Job> plain;
  for (const trace::Job& job : jobs) {
    plain.push_back({job.submit.unix_ms, job.duration.value,
                     static_cast<int>(trace::GpuOf(job).value / 1'000)});
  }
  const auto stays = baseline::Play(plain, machines, 8, baseline::Policy::kFit);
  report::Run run{.name = name,
                  .policy = "fit",
                  .machines = std::to_string(machines) + " x 8",
                  .gpu = base::WholeGpus(machines * 8),
                  .faster_milli = faster_milli,
                  .costs = "no evictions"};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    run.jobs.push_back({.name = jobs[i].name,
                        .queue = jobs[i].queue,
                        .gpu = trace::GpuOf(jobs[i]),
                        .submit = jobs[i].submit,
                        .duration = jobs[i].duration,
                        .stays = {{{stays[i][0].from_ms}, {stays[i][0].to_ms}}}});
  }
  return run;
}

report::Run Islands(const std::vector<trace::Job>& jobs, int machines_each) {
  std::map<std::string, std::vector<trace::Job>> by_queue;
  for (const trace::Job& job : jobs) by_queue[job.queue].push_back(job);
  report::Run all{.name = "islands", .policy = "fit", .islands = true, .costs = "no evictions"};
  for (auto& [queue, own] : by_queue) {
    report::Run island = Play("", std::move(own), machines_each, 1'000);
    all.gpu += island.gpu;
    for (report::Job& job : island.jobs) all.jobs.push_back(std::move(job));
  }
  std::ranges::stable_sort(all.jobs, {}, &report::Job::submit);
  all.machines = std::to_string(by_queue.size()) + " x " + std::to_string(machines_each) + " x 8";
  return all;
}

int Main(const std::string& which, const char* path) {
  std::vector<report::Run> runs;
  const std::string folder = PONDAGE_SOURCE_DIR "/examples";
  const auto files = trace::Disk(folder);
  const bool small = which == "small";
  const auto text = small ? std::string(kSmall) : files("three-teams.yaml").value_or("");
  const auto workload = trace::Yaml(text, files);
  if (!workload) {
    std::fprintf(stderr, "%s: %s\n", workload.error().object.c_str(),
                 workload.error().message.c_str());
    return 1;
  }
  if (small) {
    runs.push_back(Play("pool", workload->jobs, 2, 1'000));
  } else {
    runs.push_back(Islands(workload->jobs, 6));
    runs.push_back(Play("pool", workload->jobs, 18, 1'000));
    runs.push_back(Play("pool, 2.1x jobs", workload->jobs, 18, workload->policy.also_faster_milli));
  }
  const auto jobs = std::to_string(workload->jobs.size());
  const report::Report report = report::ReportOf(
      which,
      small ? "a small lab, " + jobs + " jobs"
            : "Philly 2017, October and November, three tenants, " + jobs + " jobs",
      "sample_report " + which, std::move(runs));
  std::ofstream(path) << report::ToHtml(report);
  std::printf("%s", report::ToJson(report).c_str());
  return 0;
}

}  // namespace
}  // namespace pondage

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return pondage::Main(argv[1], argv[2]);
}
