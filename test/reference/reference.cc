#include "reference.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>

namespace pondage::reference {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Seat {
  int machine;
  int gpus;
};

// Equal machines, by how much of each is free.
class Machines {
 public:
  Machines(int machines, int gpus_each)
      : each_(gpus_each), free_(machines, gpus_each), by_free_(gpus_each + 1) {
    for (int i = 0; i < machines; ++i) by_free_[gpus_each].insert(i);
  }

  // Empty: it does not fit.
  std::vector<Seat> Take(int gpus) {
    const int whole = gpus > each_ ? gpus / each_ : 0;
    const int rest = gpus - whole * each_;
    if (static_cast<int>(by_free_[each_].size()) < whole) return {};
    std::vector<Seat> seats;
    for (int i = 0; i < whole; ++i) seats.push_back(Sit(*by_free_[each_].begin(), each_));
    if (rest == 0) return seats;
    for (int level = rest; level <= each_; ++level) {
      if (by_free_[level].empty()) continue;
      seats.push_back(Sit(*by_free_[level].begin(), rest));
      return seats;
    }
    Give(seats);
    return {};
  }

  void Give(const std::vector<Seat>& seats) {
    for (const Seat& seat : seats) Move(seat.machine, seat.gpus);
  }

 private:
  Seat Sit(int machine, int gpus) {
    Move(machine, -gpus);
    return {machine, gpus};
  }
  void Move(int machine, int more_free) {
    by_free_[free_[machine]].erase(machine);
    free_[machine] += more_free;
    by_free_[free_[machine]].insert(machine);
  }

  int each_;
  std::vector<int> free_;
  std::vector<std::set<int>> by_free_;
};

// The waiting jobs of one size, best first: (key, arrival).
using Line = std::set<std::pair<std::int64_t, std::size_t>>;

std::int64_t KeyOf(const Job& job, Policy policy) {
  if (policy == Policy::kShortest) return job.duration_ms;
  if (policy == Policy::kFewest) return job.gpus;
  return 0;
}

class Run {
 public:
  Run(const std::vector<Job>& jobs, int machines, int gpus_each, Policy policy)
      : jobs_(jobs), machines_(machines, gpus_each), policy_(policy), starts_(jobs.size(), -1) {}

  std::vector<std::int64_t> Starts() {
    std::size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      const std::int64_t arrival = next < jobs_.size() ? jobs_[next].submit_ms : kNever;
      const std::int64_t now =
          ends_.empty() ? arrival : std::min(arrival, std::get<0>(ends_.top()));
      while (!ends_.empty() && std::get<0>(ends_.top()) == now) {
        machines_.Give(seats_[std::get<1>(ends_.top())]);
        seats_.erase(std::get<1>(ends_.top()));
        ends_.pop();
      }
      for (; next < jobs_.size() && jobs_[next].submit_ms == now; ++next) {
        lines_[jobs_[next].gpus].emplace(KeyOf(jobs_[next], policy_), next);
      }
      StartAll(now);
    }
    return std::move(starts_);
  }

 private:
  // Jobs of one size fit alike, and what does not fit does not once more has started: the best of
  // each size in turn is the line gone through once.
  void StartAll(std::int64_t now) {
    std::set<int> full;
    while (true) {
      Line* best = nullptr;
      int size = 0;
      for (auto& [gpus, line] : lines_) {
        if (line.empty() || full.contains(gpus)) continue;
        if (best == nullptr || *line.begin() < *best->begin()) best = &line, size = gpus;
      }
      if (best == nullptr) return;
      const std::size_t job = best->begin()->second;
      auto seats = machines_.Take(size);
      if (seats.empty()) {
        if (policy_ == Policy::kFifo) return;
        full.insert(size);
        continue;
      }
      best->erase(best->begin());
      starts_[job] = now;
      seats_[job] = std::move(seats);
      ends_.emplace(now + jobs_[job].duration_ms, job);
    }
  }

  const std::vector<Job>& jobs_;
  Machines machines_;
  Policy policy_;
  std::vector<std::int64_t> starts_;
  std::map<int, Line> lines_;
  std::map<std::size_t, std::vector<Seat>> seats_;
  using End = std::tuple<std::int64_t, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::vector<std::int64_t> Starts(const std::vector<Job>& jobs, int machines, int gpus_each,
                                 Policy policy) {
  return Run(jobs, machines, gpus_each, policy).Starts();
}

std::vector<std::int64_t> Ends(const std::vector<Job>& jobs, int machines, int gpus_each,
                               Order order, std::int64_t quantum_ms) {
  std::vector<std::int64_t> ends(jobs.size(), -1), done(jobs.size(), 0);
  std::vector<std::size_t> here;
  std::set<std::size_t> ran;  // in the step before: among equals they stay
  std::size_t next = 0;
  std::int64_t now = jobs.empty() ? 0 : jobs.front().submit_ms;
  const auto key = [&](std::size_t job) {
    const std::int64_t left = jobs[job].duration_ms - done[job];
    if (order == Order::kRemainingTime) return left;
    if (order == Order::kRemainingService) return left * jobs[job].gpus;
    return done[job] * jobs[job].gpus / std::max<std::int64_t>(quantum_ms, 1);
  };
  while (next < jobs.size() || !here.empty()) {
    if (here.empty()) now = std::max(now, jobs[next].submit_ms);
    while (next < jobs.size() && jobs[next].submit_ms <= now) here.push_back(next++);
    std::ranges::sort(
        here, {}, [&](std::size_t job) { return std::tuple(key(job), !ran.contains(job), job); });
    Machines pool(gpus_each == 0 ? 1 : machines, gpus_each == 0 ? machines : gpus_each);
    std::vector<std::size_t> runs;
    for (const std::size_t job : here) {
      if (!pool.Take(jobs[job].gpus).empty()) runs.push_back(job);
    }
    std::int64_t step = next < jobs.size() ? jobs[next].submit_ms - now : kNever;
    for (const std::size_t job : runs) {
      step = std::min(step, jobs[job].duration_ms - done[job]);
      if (order == Order::kAttained && here.size() > runs.size()) step = std::min(step, quantum_ms);
    }
    if (step == kNever) break;  // nothing that is left fits
    now += step;
    for (const std::size_t job : runs) {
      done[job] += step;
      if (done[job] == jobs[job].duration_ms) ends[job] = now;
    }
    ran = {runs.begin(), runs.end()};
    std::erase_if(here, [&](std::size_t job) { return ends[job] >= 0; });
  }
  return ends;
}

double Utilisation(const std::vector<Job>& jobs, const std::vector<std::int64_t>& starts,
                   std::int64_t gpus) {
  const std::int64_t first = jobs.front().submit_ms, last = jobs.back().submit_ms;
  double used = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::int64_t end = std::min(starts[i] + jobs[i].duration_ms, last);
    used += static_cast<double>(std::max<std::int64_t>(end - starts[i], 0)) * jobs[i].gpus;
  }
  return used / (static_cast<double>(gpus) * static_cast<double>(last - first));
}

double MeanWaitS(const std::vector<Job>& jobs, const std::vector<std::int64_t>& starts) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    sum += static_cast<double>(starts[i] - jobs[i].submit_ms);
  return sum / 1'000 / static_cast<double>(jobs.size());
}

double MeanJctS(const std::vector<Job>& jobs, const std::vector<std::int64_t>& ends) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    sum += static_cast<double>(ends[i] - jobs[i].submit_ms);
  return sum / 1'000 / static_cast<double>(jobs.size());
}

std::vector<std::int64_t> EndsOf(const std::vector<Job>& jobs,
                                 const std::vector<std::int64_t>& starts) {
  std::vector<std::int64_t> ends(starts);
  for (std::size_t i = 0; i < jobs.size(); ++i) ends[i] += jobs[i].duration_ms;
  return ends;
}

}  // namespace pondage::reference
