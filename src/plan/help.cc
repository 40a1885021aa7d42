#include "plan/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "plan/place.h"

namespace pondage::plan {
namespace {

using Groups = std::vector<Group>;

// The group whose size a user changes first: the workers, else the only group there is.
std::optional<std::size_t> Adjustable(const Groups& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].role == base::Role::kWorker && groups[i].count > 0) return i;
  }
  return groups.size() == 1 && groups[0].count > 0 ? std::optional<std::size_t>(0) : std::nullopt;
}

// Where it is asked whether something fits.
struct Here {
  Ground& ground;
  fleet::View& view;

  bool Fit(const Groups& groups) const {
    return Fits(ground, view, ground.Of(ground.Number(ShapeOf(groups))));
  }
};

bool FitsWith(Groups groups, std::size_t at, int count, int gpus, const Here& here) {
  groups[at].count = count;
  groups[at].demand.gpus = gpus;
  return here.Fit(groups);
}

std::string SmallerWorkers(const Groups& groups, std::size_t at, const Here& here) {
  const Group& group = groups[at];
  const std::int64_t total = std::int64_t{group.count} * group.demand.gpus;
  int largest = 0;
  for (const fleet::StateId state : here.view.live()) {
    largest = std::max(largest, here.ground.states().Of(state).WholeGpus());
  }
  for (int gpus = std::min(largest, group.demand.gpus - 1); gpus >= 1; --gpus) {
    const std::int64_t count = total / gpus;
    // More than this many replicas of a job nobody asks for.
    if (total % gpus == 0 && count <= 1000 &&
        FitsWith(groups, at, static_cast<int>(count), gpus, here)) {
      return fmt::format("workers={} gpus={}", count, gpus);
    }
  }
  return {};
}

// The largest n in [1, below) that fits, by halving: fewer members fit wherever more do.
template <class FitsAt>
int Largest(int below, FitsAt fits_at) {
  int low = 0;
  int high = below;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits_at(middle) ? low : high) = middle;
  }
  return low;
}

std::string Relaxed(Groups groups, const Here& here, void (*relax)(fleet::Demand&),
                    const char* words) {
  for (Group& group : groups) relax(group.demand);
  return here.Fit(groups) ? words : "";
}

}  // namespace

std::string CheapestChange(const Ask& ask, Ground& ground, fleet::View& view) {
  const Here here{ground, view};
  const Groups& groups = ask.groups;
  if (const std::optional<std::size_t> at = Adjustable(groups)) {
    const Group& group = groups[*at];
    if (std::string words = SmallerWorkers(groups, *at, here); !words.empty()) return words;
    const int workers = Largest(group.count, [&](int count) {
      return FitsWith(groups, *at, count, group.demand.gpus, here);
    });
    if (workers > 0) return fmt::format("workers={}", workers);
    const int gpus = Largest(group.demand.gpus, [&](int fewer) {
      return FitsWith(groups, *at, group.count, fewer, here);
    });
    if (gpus > 0) return fmt::format("gpus={}", gpus);
  }
  std::string words =
      Relaxed(groups, here, [](fleet::Demand& d) { d.gpu_type.clear(); }, "type=any");
  if (!words.empty()) return words;
  return Relaxed(groups, here, [](fleet::Demand& d) { d.node_selector.clear(); }, "labels=none");
}

}  // namespace pondage::plan
