#include "report/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/assert.h"

namespace pondage::report {

namespace {

constexpr double kGpuHour = 3.6e9;  // in milli-GPU x ms

double Seconds(base::Millis length) {
  return static_cast<double>(length.value) / 1'000;
}

base::Instant EndOf(const Job& job) {
  return job.stays.back().to;
}

double WaitS(const Job& job) {
  if (job.duration) return Seconds(EndOf(job) - job.submit) - Seconds(*job.duration);
  return Seconds(job.stays.front().from - job.submit);
}

double GpuTime(const Job& job, base::Instant from, base::Instant to) {
  double sum = 0;
  for (const Stay& stay : job.stays) {
    const base::Millis length = std::min(stay.to, to) - std::max(stay.from, from);
    if (length.value > 0)
      sum += static_cast<double>(length.value) * static_cast<double>(job.gpu.value);
  }
  return sum;
}

bool Counts(const Job& job) {
  return job.finished && !job.stays.empty();
}

void CountQueues(const Run& run, Figures& figures) {
  std::map<std::string, std::vector<double>> waits;
  std::map<std::string, double> gpu_time;
  for (const Job& job : run.jobs) {
    if (!Counts(job)) continue;
    waits[job.queue].push_back(WaitS(job));
    gpu_time[job.queue] += GpuTime(job, job.submit, EndOf(job));
  }
  for (auto& [queue, values] : waits) {
    figures.queues.push_back({.queue = queue,
                              .jobs = static_cast<int>(values.size()),
                              .gpu_hours = gpu_time[queue] / kGpuHour,
                              .wait_s = SpreadOf(std::move(values))});
  }
}

void CountUse(const Run& run, base::Instant last_end, Figures& figures) {
  const base::Instant first = run.jobs.front().submit;
  const base::Instant last = run.jobs.back().submit > first ? run.jobs.back().submit : last_end;
  if (last <= first || run.gpu.value == 0) return;
  figures.window_s = Seconds(last - first);
  double held = 0;
  for (const Job& job : run.jobs) held += GpuTime(job, first, last);
  figures.utilisation =
      held / static_cast<double>(run.gpu.value) / static_cast<double>((last - first).value);
}

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double part) { return values[static_cast<std::size_t>(part * n)]; };
  double sum = 0;
  for (const double value : values) sum += value;
  return {.mean = sum / n, .p50 = at(0.5), .p90 = at(0.9), .p99 = at(0.99), .most = values.back()};
}

Figures FiguresOf(const Run& run) {
  REQUIRE(std::ranges::is_sorted(run.jobs, {}, &Job::submit));
  Figures figures;
  if (run.jobs.empty()) return figures;
  const base::Instant first = run.jobs.front().submit;
  base::Instant last_end = first;
  std::vector<double> jcts, waits;
  std::vector<Load> loads;
  double evictions = 0, moves = 0, failures = 0, lost = 0;
  for (const Job& job : run.jobs) {
    if (job.duration) loads.push_back({job.submit, *job.duration, job.gpu});
    lost += static_cast<double>(job.lost_milli_gpu_ms);
    evictions += job.evictions;
    moves += job.moves;
    failures += job.failures;
    figures.cut += job.cut ? 1 : 0;
    if (!Counts(job)) {
      ++figures.unfinished;
      continue;
    }
    ++figures.jobs;
    jcts.push_back(Seconds(EndOf(job) - job.submit));
    waits.push_back(WaitS(job));
    last_end = std::max(last_end, EndOf(job));
  }
  figures.jct_s = SpreadOf(std::move(jcts));
  figures.wait_s = SpreadOf(std::move(waits));
  figures.makespan_s = Seconds(last_end - first);
  const auto all = static_cast<double>(run.jobs.size());
  figures.evictions_per_job = evictions / all;
  figures.moves_per_job = moves / all;
  figures.failures_per_job = failures / all;
  figures.lost_gpu_hours = lost / kGpuHour;
  CountUse(run, last_end, figures);
  CountQueues(run, figures);
  if (loads.size() == run.jobs.size() && run.gpu.value > 0) {
    figures.bounds = BoundsOf(loads, run.gpu);
  }
  return figures;
}

std::optional<Worst> WorstAgainst(const Figures& here, const Figures& islands) {
  std::optional<Worst> worst;
  for (const QueueFigures& queue : here.queues) {
    const auto alone = std::ranges::find(islands.queues, queue.queue, &QueueFigures::queue);
    if (alone == islands.queues.end()) continue;
    const double loss = queue.wait_s.mean - alone->wait_s.mean;
    if (loss <= 0 || (worst && loss <= worst->here_s - worst->alone_s)) continue;
    worst = Worst{queue.queue, alone->wait_s.mean, queue.wait_s.mean};
  }
  return worst;
}

Interval Over(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  double sum = 0, square = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (values.size() == 1) return {.mean = mean};
  for (const double value : values) square += (value - mean) * (value - mean);
  // Two-sided 95 %, by degrees of freedom from 1.
  constexpr std::array kT = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const std::size_t freedom = values.size() - 1;
  const double t =
      freedom <= kT.size() ? kT[freedom - 1] : 1.96 + 2.5 / static_cast<double>(freedom);
  return {.mean = mean, .half_width = t * std::sqrt(square / (n - 1) / n)};
}

std::span<const NamedFigure> NamedFigures() {
  static constexpr auto kAll = [] {
    constexpr auto kOf = [](std::string_view name, Spread Figures::* spread,
                            double Spread::* part) {
      return NamedFigure{.name = name, .spread = spread, .part = part};
    };
    constexpr auto kOne = [](std::string_view name, double Figures::* direct) {
      return NamedFigure{.name = name, .direct = direct};
    };
    return std::array{kOf("jct_s.mean", &Figures::jct_s, &Spread::mean),
                      kOf("jct_s.p50", &Figures::jct_s, &Spread::p50),
                      kOf("jct_s.p90", &Figures::jct_s, &Spread::p90),
                      kOf("jct_s.p99", &Figures::jct_s, &Spread::p99),
                      kOf("wait_s.mean", &Figures::wait_s, &Spread::mean),
                      kOf("wait_s.p50", &Figures::wait_s, &Spread::p50),
                      kOf("wait_s.p90", &Figures::wait_s, &Spread::p90),
                      kOf("wait_s.p99", &Figures::wait_s, &Spread::p99),
                      kOne("makespan_s", &Figures::makespan_s),
                      kOne("utilisation", &Figures::utilisation),
                      kOne("evictions_per_job", &Figures::evictions_per_job),
                      kOne("failures_per_job", &Figures::failures_per_job),
                      kOne("lost_gpu_hours", &Figures::lost_gpu_hours)};
  }();
  return kAll;
}

Interval OverSeeds(const std::vector<Figures>& seeds, std::string_view name) {
  const auto named = std::ranges::find(NamedFigures(), name, &NamedFigure::name);
  REQUIRE(named != NamedFigures().end());
  std::vector<double> values;
  for (const Figures& figures : seeds) values.push_back(named->Of(figures));
  return Over(values);
}

std::vector<Moment> Course(const Run& run, int buckets) {
  REQUIRE(buckets > 0);
  if (run.jobs.empty()) return {};
  const base::Instant first = run.jobs.front().submit;
  base::Instant last = first;
  for (const Job& job : run.jobs) {
    last = std::max(last, job.submit);
    if (!job.stays.empty()) last = std::max(last, EndOf(job));
  }
  const double span = std::max<double>(1, static_cast<double>((last - first).value));
  const double width = span / buckets;
  // Differences of levels at bucket borders, and what part of the first bucket a change misses.
  std::vector<double> held(static_cast<std::size_t>(buckets) + 2), waiting(held.size());
  const auto add = [&](std::vector<double>& level, base::Instant at, double amount) {
    const double place =
        std::min(static_cast<double>((at - first).value) / width, static_cast<double>(buckets));
    const auto bucket = static_cast<std::size_t>(place);
    const double missed = place - static_cast<double>(bucket);
    level[bucket] += amount * (1 - missed);
    level[bucket + 1] += amount * missed;
  };
  for (const Job& job : run.jobs) {
    const double gpus = static_cast<double>(job.gpu.value) / 1'000;
    base::Instant since = job.submit;
    for (const Stay& stay : job.stays) {
      add(waiting, since, gpus);
      add(waiting, stay.from, -gpus);
      add(held, stay.from, gpus);
      add(held, stay.to, -gpus);
      since = stay.to;
    }
    if (!job.finished) add(waiting, since, gpus);
  }
  std::vector<Moment> course;
  double held_now = 0, waiting_now = 0;
  for (int i = 0; i < buckets; ++i) {
    held_now += held[static_cast<std::size_t>(i)];
    waiting_now += waiting[static_cast<std::size_t>(i)];
    course.push_back({i * width / 1'000, std::max(0.0, held_now), std::max(0.0, waiting_now)});
  }
  return course;
}

}  // namespace pondage::report
