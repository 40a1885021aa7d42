#include "plan/order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "base/assert.h"

namespace pondage::plan {
namespace {

auto ByPriority(const Waiting& w) {
  return std::tuple(-std::int64_t{w.ask->priority}, w.ask->arrived, w.ask->job);
}

// A gang that straddles the guarantee is outside as a whole.
void MarkGuaranteed(std::vector<Waiting>& line, const queue::Tree& queues) {
  std::map<std::string_view, base::MilliGpu> used;  // of each queue, with gangs already marked
  for (Waiting& w : line) {
    const queue::Spec* spec = queues.Find(w.ask->queue);
    const base::MilliGpu charge = ChargeOf(w.shape);
    if (spec == nullptr || charge.value == 0 || w.ask->held || charge > spec->guarantee) continue;
    base::MilliGpu& sum = used.try_emplace(w.ask->queue, queues.Used(w.ask->queue)).first->second;
    if (sum + charge > spec->guarantee) continue;
    w.guaranteed = true;
    sum += charge;
  }
}

}  // namespace

std::vector<Waiting> InOrder(const std::vector<Ask>& asks, const queue::Tree& queues) {
  std::vector<Waiting> line;
  line.reserve(asks.size());
  for (const Ask& ask : asks) line.push_back({&ask, ShapeOf(ask.groups), false, {}});
  std::ranges::sort(
      line, [](const Waiting& a, const Waiting& b) { return ByPriority(a) < ByPriority(b); });
  const auto twin = std::ranges::adjacent_find(
      line, [](const Waiting& a, const Waiting& b) { return a.ask->job == b.ask->job; });
  REQUIRE(twin == line.end());
  MarkGuaranteed(line, queues);
  std::ranges::stable_partition(line, [](const Waiting& w) { return w.guaranteed; });
  return line;
}

base::MilliGpu ChargeOf(const Shape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4000;
  return base::WholeGpus(std::min(TotalGpus(shape), kMost));
}

}  // namespace pondage::plan
