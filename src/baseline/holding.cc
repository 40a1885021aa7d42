#include "baseline/holding.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "base/assert.h"

namespace pondage::baseline {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// The waiting jobs of one kind, best first: (key, arrival).
using Line = std::set<std::pair<std::int64_t, std::size_t>>;

class Holding {
 public:
  Holding(const std::vector<Waiting>& jobs, Room& room, bool strict)
      : jobs_(jobs), room_(room), strict_(strict), stays_(jobs.size()) {}

  std::vector<std::vector<Stay>> Play() {
    std::size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      const std::int64_t arrival = next < jobs_.size() ? jobs_[next].submit_ms : kNever;
      const std::int64_t now = ends_.empty() ? arrival : std::min(arrival, ends_.top().first);
      while (!ends_.empty() && ends_.top().first == now) {
        room_.Give(ends_.top().second);
        ends_.pop();
      }
      for (; next < jobs_.size() && jobs_[next].submit_ms == now; ++next) {
        lines_[jobs_[next].kind].emplace(jobs_[next].key, next);
      }
      StartAll(now);
    }
    return std::move(stays_);
  }

 private:
  // What does not fit does not once more has started: the best of each kind in turn is the line
  // gone through once.
  void StartAll(std::int64_t now) {
    std::set<int> full;
    while (true) {
      Line* best = nullptr;
      int best_kind = 0;
      for (auto& [kind, line] : lines_) {
        if (line.empty() || full.contains(kind)) continue;
        if (best == nullptr || *line.begin() < *best->begin()) best = &line, best_kind = kind;
      }
      if (best == nullptr) return;
      const std::size_t job = best->begin()->second;
      const auto length_ms = room_.Take(job);
      if (!length_ms) {
        if (strict_) return;
        full.insert(best_kind);
        continue;
      }
      best->erase(best->begin());
      stays_[job] = {{now, now + *length_ms}};
      ends_.emplace(now + *length_ms, job);
    }
  }

  const std::vector<Waiting>& jobs_;
  Room& room_;
  const bool strict_;
  std::vector<std::vector<Stay>> stays_;
  std::map<int, Line> lines_;
  using End = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::vector<std::vector<Stay>> Hold(const std::vector<Waiting>& jobs, Room& room, bool strict) {
  REQUIRE(std::ranges::is_sorted(jobs, {}, &Waiting::submit_ms));
  return Holding(jobs, room, strict).Play();
}

}  // namespace pondage::baseline
