#include "replay/compare.h"

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
  for (const std::string& other : workload.policy.compare) {
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

base::Result<std::vector<report::Run>> PlayStory(
    const trace::Workload& workload, const Options& options,
    const std::function<void(const std::string& name, std::size_t number, std::size_t of)>&
        on_run) {
  TRY(const std::vector<Chapter> chapters, Chapters(workload));
  std::vector<report::Run> runs;
  for (const Chapter& chapter : chapters) {
    on_run(chapter.name, runs.size() + 1, chapters.size());
    Options own = options;
    own.name = chapter.name;
    TRY(report::Run run,
        chapter.islands ? PlayIslands(chapter.workload, own) : Play(chapter.workload, own));
    run.faster_milli = chapter.faster_milli;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace pondage::replay
