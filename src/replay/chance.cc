#include "replay/chance.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace pondage::replay {

namespace {

// A stream of its own for each name (FNV-1a).
std::uint64_t StreamOf(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 14'695'981'039'346'656'037ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
  }
  return base::Random(seed).Next() ^ hash;
}

}  // namespace

void DrawJobs(trace::Workload& workload, std::uint64_t seed) {
  const trace::Faults& faults = workload.faults;
  for (trace::Job& job : workload.jobs) {
    base::Random random(StreamOf(seed, job.name));
    if (faults.limits) {
      const std::int64_t milli =
          random.Between(faults.limits->low_milli, faults.limits->high_milli);
      const __int128 limit = static_cast<__int128>(job.duration.value) * milli / 1'000;
      job.limit = base::Millis{std::max<std::int64_t>(1, static_cast<std::int64_t>(limit))};
    }
    job.submit = job.submit + base::Millis{random.Between(0, faults.arrivals.value)};
  }
  trace::SortBySubmission(workload.jobs);
}

Outages::Outages(const trace::Workload& workload, base::Instant first, std::uint64_t seed)
    : mtbf_(workload.faults.mtbf.value_or(base::Millis{})), repair_(workload.faults.repair) {
  for (const fleet::Node& node : trace::Nodes(workload.fleet)) {
    machines_.emplace(node.name, Machine{base::Random(StreamOf(seed, node.name))});
    if (!workload.faults.mtbf) continue;
    due_.insert({first + Draw(node.name, mtbf_), node.name, false, true});
  }
  for (const trace::Outage& outage : workload.faults.outages) {
    if (!machines_.contains(outage.machine)) continue;
    const base::Instant from = first + outage.at;
    due_.insert({from, outage.machine, false, false});
    due_.insert({from + std::max(outage.length, base::Millis{1}), outage.machine, true, false});
  }
}

// A failure and a repair take a millisecond at least: time goes on.
base::Millis Outages::Draw(const std::string& machine, base::Millis mean) {
  return {std::max<std::int64_t>(1, machines_.at(machine).random.Exponential(mean.value))};
}

base::Instant Outages::NextReturn() const {
  const auto next = std::ranges::find_if(
      due_, [&](const Due& due) { return due.returns && machines_.at(due.machine).away > 0; });
  return next == due_.end() ? base::kNever : next->at;
}

std::vector<Outages::Change> Outages::Until(base::Instant now) {
  std::map<std::string, bool> was_away;
  std::vector<std::string> order;
  while (!due_.empty() && due_.begin()->at <= now) {
    const Due due = *due_.begin();
    due_.erase(due_.begin());
    Machine& machine = machines_.at(due.machine);
    if (was_away.emplace(due.machine, machine.away > 0).second) order.push_back(due.machine);
    machine.away += due.returns ? -1 : 1;
    REQUIRE(machine.away >= 0);
    if (!due.is_drawn) continue;
    const base::Millis wait = Draw(due.machine, due.returns ? mtbf_ : repair_);
    due_.insert({due.at + wait, due.machine, !due.returns, true});
  }
  std::vector<Change> changes;
  for (const std::string& name : order) {
    const bool is_away = machines_.at(name).away > 0;
    if (is_away != was_away.at(name)) changes.push_back({name, is_away});
  }
  return changes;
}

}  // namespace pondage::replay
