#include "replay/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/assert.h"
#include "trace/amount.h"

namespace pondage::replay {

namespace {

constexpr std::int64_t kMilli = 1'000;

std::int64_t CountOf(const std::vector<trace::Machines>& fleet) {
  std::int64_t count = 0;
  for (const trace::Machines& machines : fleet) count += machines.count;
  return count;
}

class Search {
 public:
  Search(const trace::Workload& workload, const std::vector<Target>& targets,
         const Options& options, int seeds, const OnRun& on_run)
      : workload_(workload),
        targets_(targets),
        options_(options),
        seeds_(seeds),
        on_run_(on_run),
        first_(CountOf(workload.fleet)) {}

  base::Result<Sized> Run() {
    TRY(std::int64_t enough, Enough());
    std::int64_t too_few = 0;  // nothing runs on no machine
    for (const Trial& trial : sized_.trials) {
      if (!trial.met) too_few = std::max(too_few, trial.machines);
    }
    while (enough - too_few > 1) {
      const std::int64_t middle = too_few + (enough - too_few) / 2;
      TRY(const bool met, Try(middle));
      (met ? enough : too_few) = middle;
    }
    sized_.fewest = std::move(results_.at(enough));
    if (too_few > 0) sized_.below = std::move(results_.at(too_few));
    return std::move(sized_);
  }

 private:
  // A number of machines that does: what there is, else twice as many, until all run at once.
  base::Result<std::int64_t> Enough() {
    const std::int64_t gpus = std::max<std::int64_t>(trace::GpusOf(workload_.fleet), 1);
    const std::int64_t peak = trace::PeakDemand(workload_.jobs).value / kMilli;
    // Gangs leave room beside them: twice the peak holds them all whatever it is cut into.
    const std::int64_t most = std::max(first_, first_ * (2 * peak / gpus + 1) + 1);
    for (std::int64_t count = first_;; count = std::min(2 * count, most)) {
      TRY(const bool met, Try(count));
      if (met) return count;
      if (count == most) break;
    }
    const Trial& last = sized_.trials.back();
    std::string why = fmt::format("with {} machines", last.machines);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      why += fmt::format(" {} is {:.0f} s,", targets_[i].name, last.values[i]);
    }
    return base::Fail(
        base::Kind::kInvalid, "", "--size-for",
        fmt::format("{} and {} jobs never end: more would change nothing", why, last.unfinished));
  }

  base::Result<bool> Try(std::int64_t count) {
    trace::Workload own = workload_;
    own.fleet = Scaled(workload_.fleet, count);
    own.policy.baselines.clear();
    own.policy.also_faster_milli = 0;
    const std::string name = fmt::format("{} machines", count);
    const auto begin = [&](const std::string&, std::size_t number, std::size_t of) {
      on_run_(name, of == 1 ? sized_.trials.size() + 1 : number, of == 1 ? 0 : of);
    };
    TRY(auto results, PlayStory(own, options_, seeds_, begin));
    report::Result& result = results.front();
    result.run.name = name;
    Trial trial{.machines = count, .gpus = trace::GpusOf(own.fleet)};
    std::vector<report::Figures> seeds = result.seeds;
    if (seeds.empty()) seeds.push_back(result.figures);
    for (const report::Figures& figures : seeds) {
      trial.unfinished = std::max(trial.unfinished, figures.unfinished - figures.cut);
    }
    trial.met = trial.unfinished == 0;
    for (const Target& target : targets_) {
      trial.values.push_back(report::OverSeeds(seeds, target.figure).mean);
      trial.met = trial.met && trial.values.back() <= target.most_s;
    }
    sized_.trials.push_back(trial);
    results_.insert_or_assign(count, std::move(result));
    std::erase_if(results_, [&](const auto& entry) { return IsOver(entry.first); });
    return trial.met;
  }

  // Neither the fewest that do so far nor the most that do not: its records are not needed.
  bool IsOver(std::int64_t count) const {
    std::int64_t enough = std::numeric_limits<std::int64_t>::max(), too_few = 0;
    for (const Trial& trial : sized_.trials) {
      if (trial.met) {
        enough = std::min(enough, trial.machines);
      } else {
        too_few = std::max(too_few, trial.machines);
      }
    }
    return count != enough && count != too_few;
  }

  const trace::Workload& workload_;
  const std::vector<Target>& targets_;
  const Options& options_;
  const int seeds_;
  const OnRun& on_run_;
  const std::int64_t first_;
  Sized sized_;
  std::map<std::int64_t, report::Result> results_;  // by machines
};

}  // namespace

base::Result<std::vector<Target>> TargetsOf(std::string_view text) {
  std::vector<Target> targets;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const auto dash = std::min(name.find('-'), name.size());
    const auto figure = std::ranges::find(
        report::NamedFigures(),
        fmt::format("{}_s.{}", name.substr(std::min(dash + 1, name.size())), name.substr(0, dash)),
        &report::NamedFigure::name);
    const auto most = trace::Length(part.substr(std::min(equals + 1, part.size())));
    if (figure == report::NamedFigures().end() || !most) {
      return base::Fail(
          base::Kind::kInvalid, "", "--size-for",
          fmt::format("\"{}\" is not like p90-wait=10m: mean, p50, p90 or p99 of wait or jct",
                      part.substr(0, 80)));
    }
    targets.push_back(
        {std::string(name), std::string(figure->name), static_cast<double>(most->value) / kMilli});
  }
  if (targets.empty()) return base::Fail(base::Kind::kInvalid, "", "--size-for", "it is empty");
  return targets;
}

std::vector<trace::Machines> Scaled(const std::vector<trace::Machines>& fleet, std::int64_t count) {
  const std::int64_t all = CountOf(fleet);
  REQUIRE(all > 0 && count > 0);
  std::vector<trace::Machines> scaled;
  std::int64_t passed = 0, given = 0;
  for (const trace::Machines& machines : fleet) {
    passed += machines.count;
    const auto until = static_cast<std::int64_t>(static_cast<__int128>(count) * passed / all);
    if (until == given) continue;
    scaled.push_back(machines);
    scaled.back().count = static_cast<int>(until - given);
    given = until;
  }
  return scaled;
}

base::Result<Sized> SizeFor(const trace::Workload& workload, const std::vector<Target>& targets,
                            const Options& options, int seeds, const OnRun& on_run) {
  REQUIRE(!workload.fleet.empty() && !targets.empty());
  return Search(workload, targets, options, seeds, on_run).Run();
}

}  // namespace pondage::replay
