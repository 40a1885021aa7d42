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

bool FitsWith(Groups groups, std::size_t at, int count, int gpus, Rooms& rooms) {
  groups[at].count = count;
  groups[at].demand.gpus = gpus;
  return Fits(rooms, ShapeOf(groups));
}

std::string SmallerWorkers(const Groups& groups, std::size_t at, Rooms& rooms) {
  const Group& group = groups[at];
  const std::int64_t total = std::int64_t{group.count} * group.demand.gpus;
  int largest = 0;
  for (const Room& room : rooms.all()) {
    largest = std::max(largest, static_cast<int>(room.free.size()));
  }
  for (int gpus = std::min(largest, group.demand.gpus - 1); gpus >= 1; --gpus) {
    const std::int64_t count = total / gpus;
    // More than this many replicas of a job nobody asks for.
    if (total % gpus == 0 && count <= 1000 &&
        FitsWith(groups, at, static_cast<int>(count), gpus, rooms)) {
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

std::string Relaxed(Groups groups, Rooms& rooms, void (*relax)(fleet::Demand&), const char* words) {
  for (Group& group : groups) relax(group.demand);
  return Fits(rooms, ShapeOf(groups)) ? words : "";
}

}  // namespace

std::string CheapestChange(const Ask& ask, Rooms& rooms) {
  const Groups& groups = ask.groups;
  if (const std::optional<std::size_t> at = Adjustable(groups)) {
    const Group& group = groups[*at];
    if (std::string words = SmallerWorkers(groups, *at, rooms); !words.empty()) return words;
    const int workers = Largest(group.count, [&](int count) {
      return FitsWith(groups, *at, count, group.demand.gpus, rooms);
    });
    if (workers > 0) return fmt::format("workers={}", workers);
    const int gpus = Largest(group.demand.gpus, [&](int fewer) {
      return FitsWith(groups, *at, group.count, fewer, rooms);
    });
    if (gpus > 0) return fmt::format("gpus={}", gpus);
  }
  std::string words =
      Relaxed(groups, rooms, [](fleet::Demand& d) { d.gpu_type.clear(); }, "type=any");
  if (!words.empty()) return words;
  return Relaxed(groups, rooms, [](fleet::Demand& d) { d.node_selector.clear(); }, "labels=none");
}

}  // namespace pondage::plan
