#include "replay/story.h"

#include <fmt/format.h>

#include <utility>

namespace pondage::replay {

namespace {

struct Chapter {
  std::string name;
  std::string played;  // for PlayNamed
  trace::Workload workload;
  std::int64_t faster_milli = 1'000;
};

base::Result<std::vector<Chapter>> Chapters(const trace::Workload& workload) {
  std::vector<Chapter> chapters;
  for (const std::string& other : workload.policy.baselines) {
    chapters.push_back({.name = other, .played = other, .workload = workload});
  }
  const std::string& own = workload.policy.name;
  chapters.push_back(
      {.name = own == "pondage" ? "pool" : own, .played = own, .workload = workload});
  if (workload.policy.also_faster_milli > 0) {
    Chapter chapter{
        .played = own, .workload = workload, .faster_milli = workload.policy.also_faster_milli};
    chapter.name = fmt::format("{}, {:g}x jobs", chapters.back().name,
                               static_cast<double>(chapter.faster_milli) / 1'000);
    if (!trace::Hurry(chapter.workload.jobs, chapter.faster_milli)) {
      return base::Fail(base::Kind::kInvalid, "", "policy.also-faster", "it is too slow");
    }
    chapters.push_back(std::move(chapter));
  }
  return chapters;
}

// What was recorded.
base::Result<report::Run> Live(const trace::Workload& workload) {
  report::Run run{.policy = "as recorded",
                  .machines = MachinesText(workload.fleet),
                  .gpu = base::WholeGpus(trace::GpusOf(workload.fleet)),
                  .costs = "as recorded"};
  bool any = false;
  for (const trace::Job& job : workload.jobs) {
    report::Job record{.name = job.name,
                       .queue = job.queue,
                       .user = job.user,
                       .gpu = trace::GpuOf(job),
                       .submit = job.submit,
                       .duration = job.duration,
                       .finished = job.started.has_value()};
    if (job.started) record.stays.push_back({*job.started, *job.started + job.duration});
    any = any || job.started;
    run.jobs.push_back(std::move(record));
  }
  if (any) return run;
  return base::Fail(base::Kind::kInvalid, "", "live", "nothing says when its jobs started");
}

}  // namespace

base::Result<report::Run> PlayNamed(const trace::Workload& workload, const std::string& name,
                                    Options options) {
  if (options.name.empty()) options.name = name;
  if (name == "islands") return PlayIslands(workload, options);
  if (name == "live") {
    TRY(report::Run run, Live(workload));
    run.name = options.name;
    return run;
  }
  trace::Workload own = workload;
  own.policy.name = name;
  return Play(own, options);
}

base::Result<std::vector<report::Result>> PlayStory(const trace::Workload& workload,
                                                    const Options& options, int seeds,
                                                    const OnRun& on_run) {
  REQUIRE(seeds > 0);
  TRY(const std::vector<Chapter> chapters, Chapters(workload));
  std::vector<report::Result> results;
  for (std::size_t played = 0; played < chapters.size() * static_cast<std::size_t>(seeds);
       ++played) {
    const std::size_t which = played % chapters.size();
    const Chapter& chapter = chapters[which];
    on_run(chapter.name, played + 1, chapters.size() * static_cast<std::size_t>(seeds));
    Options own = options;
    own.name = chapter.name;
    own.seed = options.seed + played / chapters.size();
    TRY(report::Run run, PlayNamed(chapter.workload, chapter.played, own));
    run.faster_milli = chapter.faster_milli;
    report::Figures figures = report::FiguresOf(run);
    if (played < chapters.size()) results.push_back({.run = std::move(run), .figures = figures});
    if (seeds > 1) results[which].seeds.push_back(std::move(figures));
  }
  return results;
}

}  // namespace pondage::replay
