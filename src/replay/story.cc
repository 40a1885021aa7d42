#include "replay/story.h"

#include <fmt/format.h>

#include <utility>

namespace pondage::replay {

namespace {

struct Chapter {
  std::string name;
  trace::Workload workload;
  std::int64_t faster_milli = 1'000;
  bool islands = false;
};

base::Result<std::vector<Chapter>> Chapters(const trace::Workload& workload) {
  std::vector<Chapter> chapters;
  for (const std::string& other : workload.policy.baselines) {
    Chapter chapter{.name = other, .workload = workload, .islands = other == "islands"};
    if (!chapter.islands) chapter.workload.policy.name = other;
    chapters.push_back(std::move(chapter));
  }
  chapters.push_back({.name = workload.policy.name == "pondage" ? "pool" : workload.policy.name,
                      .workload = workload});
  if (workload.policy.also_faster_milli > 0) {
    Chapter chapter{.workload = workload, .faster_milli = workload.policy.also_faster_milli};
    chapter.name = fmt::format("{}, {:g}x jobs", chapters.back().name,
                               static_cast<double>(chapter.faster_milli) / 1'000);
    if (!trace::Hurry(chapter.workload.jobs, chapter.faster_milli)) {
      return base::Fail(base::Kind::kInvalid, "", "policy.also-faster", "it is too slow");
    }
    chapters.push_back(std::move(chapter));
  }
  return chapters;
}

}  // namespace

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
    TRY(report::Run run,
        chapter.islands ? PlayIslands(chapter.workload, own) : Play(chapter.workload, own));
    run.faster_milli = chapter.faster_milli;
    report::Figures figures = report::FiguresOf(run);
    if (played < chapters.size()) results.push_back({.run = std::move(run), .figures = figures});
    if (seeds > 1) results[which].seeds.push_back(std::move(figures));
  }
  return results;
}

}  // namespace pondage::replay
