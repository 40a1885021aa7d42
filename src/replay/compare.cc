#include "replay/compare.h"

#include <algorithm>
#include <utility>

namespace pondage::replay {

namespace {

bool IsPool(const std::string& name) {
  return name == "pondage" || name == "islands";
}

// The first so many, each about whoever waits.
std::vector<std::optional<Why>> Whys(const Comparison& comparison, std::size_t explained) {
  std::vector<std::optional<Why>> whys;
  for (const report::Parting& parting : comparison.partings) {
    if (whys.size() == explained) break;
    const bool a_waits = parting.a.what == report::Deed::What::kWaits;
    const bool b_waits = parting.b.what == report::Deed::What::kWaits;
    if (!a_waits && !b_waits) {
      whys.emplace_back();
      continue;
    }
    const report::Run& run = b_waits ? comparison.b : comparison.a;
    whys.push_back(
        Why{.is_b = b_waits, .reason = {}, .crowd = report::CrowdAt(run, parting.at, parting.job)});
  }
  return whys;
}

// Plays `name` again and asks why who waited in it did.
base::Result<void> Ask(const trace::Workload& workload, const std::string& name,
                       const Options& options, bool is_b, Comparison& comparison) {
  std::vector<Question> questions;
  for (std::size_t i = 0; i < comparison.why.size(); ++i) {
    const auto& why = comparison.why[i];
    if (!why || why->is_b != is_b) continue;
    questions.push_back({comparison.partings[i].at, comparison.partings[i].job});
  }
  if (questions.empty()) return {};
  Options own = options;
  own.questions = &questions;
  TRY_DO(PlayNamed(workload, name, own));
  auto answered = questions.begin();
  for (auto& why : comparison.why) {
    if (why && why->is_b == is_b) why->reason = std::move((answered++)->answer);
  }
  return {};
}

}  // namespace

base::Result<Comparison> Compare(const trace::Workload& workload, const std::string& a,
                                 const std::string& b, const Options& options,
                                 std::size_t explained, const OnRun& on_run) {
  const std::size_t runs = 2 + (IsPool(a) ? 1 : 0) + (IsPool(b) ? 1 : 0);
  Comparison comparison;
  on_run(a, 1, runs);
  TRY(comparison.a, PlayNamed(workload, a, options));
  on_run(b, 2, runs);
  TRY(comparison.b, PlayNamed(workload, b, options));
  // A real server takes a moment to start, to see an end, and to decide.
  const bool live = a == "live" || b == "live";
  comparison.partings =
      report::Partings(comparison.a, comparison.b, live ? base::SecondsLong(1) : base::Millis{});
  comparison.why = Whys(comparison, explained);
  if (IsPool(a)) {
    on_run(a, 3, runs);
    TRY_DO(Ask(workload, a, options, false, comparison));
  }
  if (IsPool(b)) {
    on_run(b, runs, runs);
    TRY_DO(Ask(workload, b, options, true, comparison));
  }
  return comparison;
}

}  // namespace pondage::replay
