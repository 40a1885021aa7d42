#include "baseline/plain.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "baseline/holding.h"

namespace pondage::baseline {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

using Stays = std::vector<std::vector<Stay>>;

struct Part {
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
  std::vector<Part> Take(int gpus) {
    const int whole = gpus > each_ ? gpus / each_ : 0;
    const int rest = gpus - whole * each_;
    if (static_cast<int>(by_free_[each_].size()) < whole) return {};
    std::vector<Part> seats;
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

  void Give(const std::vector<Part>& seats) {
    for (const Part& seat : seats) Move(seat.machine, seat.gpus);
  }

 private:
  Part Sit(int machine, int gpus) {
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

std::int64_t KeyOf(const Job& job, Policy policy) {
  if (policy == Policy::kShortest) return job.duration_ms;
  if (policy == Policy::kFewest) return job.gpus;
  return 0;
}

// Jobs of one size fit alike.
class Seats : public Room {
 public:
  Seats(const std::vector<Job>& jobs, int machines, int gpus_each)
      : jobs_(jobs), machines_(machines, gpus_each) {}

  std::optional<std::int64_t> Take(std::size_t job) override {
    auto seats = machines_.Take(jobs_[job].gpus);
    if (seats.empty()) return std::nullopt;
    seats_[job] = std::move(seats);
    return jobs_[job].duration_ms;
  }
  void Give(std::size_t job) override {
    machines_.Give(seats_.at(job));
    seats_.erase(job);
  }

 private:
  const std::vector<Job>& jobs_;
  Machines machines_;
  std::map<std::size_t, std::vector<Part>> seats_;
};

std::vector<std::vector<Stay>> PlayHolding(const std::vector<Job>& jobs, int machines,
                                           int gpus_each, Policy policy) {
  std::vector<Waiting> waiting;
  for (const Job& job : jobs) waiting.push_back({job.submit_ms, job.gpus, KeyOf(job, policy)});
  Seats seats(jobs, machines, gpus_each);
  return Hold(waiting, seats, policy == Policy::kFifo);
}

// The preemptive policies.
class Lining {
 public:
  Lining(const std::vector<Job>& jobs, int machines, int gpus_each, Policy policy,
         std::int64_t quantum)
      : jobs_(jobs),
        machines_(machines),
        gpus_each_(gpus_each),
        policy_(policy),
        quantum_(std::max<std::int64_t>(quantum, 1)),
        done_(jobs.size(), 0),
        stays_(jobs.size()) {}

  Stays Play() {
    std::size_t next = 0;
    while (next < jobs_.size() || !here_.empty()) {
      if (here_.empty()) now_ = std::max(now_, jobs_[next].submit_ms);
      while (next < jobs_.size() && jobs_[next].submit_ms <= now_) here_.push_back(next++);
      LineUp();
      const std::int64_t step =
          std::min(NextChange(), next < jobs_.size() ? jobs_[next].submit_ms - now_ : kNever);
      if (step == kNever) break;  // nothing that is left fits
      Pass(step);
    }
    return std::move(stays_);
  }

 private:
  std::int64_t KeyOf(std::size_t job) const {
    const std::int64_t left = jobs_[job].duration_ms - done_[job];
    if (policy_ == Policy::kRemainingTime) return left;
    if (policy_ == Policy::kRemainingService) return left * jobs_[job].gpus;
    return done_[job] * jobs_[job].gpus / quantum_;
  }

  void LineUp() {
    std::ranges::sort(here_, {}, [this](std::size_t job) {
      return std::tuple(KeyOf(job), !runs_.contains(job), job);
    });
    Machines pool(machines_, gpus_each_);
    runs_.clear();
    for (const std::size_t job : here_) {
      if (!pool.Take(jobs_[job].gpus).empty()) runs_.insert(job);
    }
  }

  // Until the first end, or until somebody who waits may come before somebody who runs.
  std::int64_t NextChange() const {
    std::int64_t step = kNever;
    for (const std::size_t job : runs_) {
      step = std::min(step, jobs_[job].duration_ms - done_[job]);
      if (policy_ != Policy::kAttained || here_.size() == runs_.size()) continue;
      const std::int64_t level = (KeyOf(job) + 1) * quantum_;
      step = std::min(step, (level + jobs_[job].gpus - 1) / jobs_[job].gpus - done_[job]);
    }
    return step;
  }

  void Pass(std::int64_t step) {
    for (const std::size_t job : runs_) {
      if (stays_[job].empty() || stays_[job].back().to_ms != now_)
        stays_[job].push_back({now_, now_});
      stays_[job].back().to_ms = now_ + step;
      done_[job] += step;
    }
    now_ += step;
    std::erase_if(here_, [this](std::size_t job) { return done_[job] == jobs_[job].duration_ms; });
  }

  const std::vector<Job>& jobs_;
  int machines_, gpus_each_;
  Policy policy_;
  std::int64_t quantum_;
  std::int64_t now_ = 0;
  std::vector<std::int64_t> done_;
  Stays stays_;
  std::vector<std::size_t> here_;  // submitted and not ended
  std::set<std::size_t> runs_;
};

}  // namespace

std::optional<Policy> PolicyOf(std::string_view name) {
  constexpr std::pair<std::string_view, Policy> kNames[] = {
      {"fifo", Policy::kFifo},          {"fit", Policy::kFit},
      {"fewest", Policy::kFewest},      {"sjf", Policy::kShortest},
      {"srtf", Policy::kRemainingTime}, {"srsf", Policy::kRemainingService},
      {"las", Policy::kAttained}};
  for (const auto& [known, policy] : kNames) {
    if (known == name) return policy;
  }
  return std::nullopt;
}

std::vector<std::vector<Stay>> Play(const std::vector<Job>& jobs, int machines, int gpus_each,
                                    Policy policy, std::int64_t quantum_gpu_ms) {
  REQUIRE(std::ranges::is_sorted(jobs, {}, &Job::submit_ms) && machines > 0 && gpus_each > 0);
  if (policy < Policy::kRemainingTime) return PlayHolding(jobs, machines, gpus_each, policy);
  return Lining(jobs, machines, gpus_each, policy, quantum_gpu_ms).Play();
}

}  // namespace pondage::baseline
