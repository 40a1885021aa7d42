// The planner alone, at the sizes of the gates: from facts to a plan, and the binding of it.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "plan/planner.h"

namespace pondage::plan {
namespace {

constexpr std::int64_t kMinute = 60'000;

fleet::Node Machine(int number, int gpus, const std::string& type = "A") {
  fleet::Node node{.name = "node-" + std::to_string(100'000 + number),
                   .cpu = {96'000},
                   .memory = {std::int64_t{768} << 30}};
  for (int i = 0; i < gpus; ++i) node.gpus.push_back({.id = std::to_string(i), .type = type});
  return node;
}

Ask Gang(int job, int members, int gpus) {
  Ask ask{.job = {job}, .queue = "default", .arrived = {job}};
  ask.groups.push_back({base::Role::kWorker, members, {.gpus = gpus}});
  return ask;
}

std::unique_ptr<Planner> Pool(int machines, int types = 1) {
  auto planner = std::make_unique<Planner>();
  planner->PutQueue({.name = "default"});
  for (int i = 0; i < machines; ++i) {
    planner->SeeNode(Machine(i, 8, std::string(1, static_cast<char>('A' + i % types))));
  }
  return planner;
}

void BindAll(Planner& planner, const Plan& plan, base::Instant now) {
  for (const Placement& placement : plan.start) {
    const Ask& ask = planner.waiters().at(placement.job).ask;
    Holding holding{.job = ask.job, .queue = ask.queue, .user = ask.user};
    if (ask.limit) holding.ends_by = now + *ask.limit;
    for (const fleet::Grant& grant : placement.grants) planner.Bind(holding, grant, now);
    planner.DropAsk(placement.job);
  }
}

// Every machine is held as a whole by a job of its own.
void Fill(Planner& planner, int machines, base::Random& random) {
  for (int i = 0; i < machines; ++i) {
    const base::Instant end{random.Between(1, 1400) * kMinute};
    const Holding holding{.job = {1'000'000 + i}, .queue = "default", .ends_by = end};
    planner.Bind(holding, {Machine(i, 0).name, {0, 1, 2, 3, 4, 5, 6, 7}, {}, {}, {}}, {0});
  }
}

void Starts(benchmark::State& state, int gangs, int members, int gpus) {
  for (auto _ : state) {
    state.PauseTiming();
    const std::unique_ptr<Planner> pool = Pool(1000);
    Planner& planner = *pool;
    planner.Cycle({0});
    state.ResumeTiming();
    for (int job = 1; job <= gangs; ++job) planner.PutAsk(Gang(job, members, gpus));
    const Plan plan = planner.Cycle({1});
    BindAll(planner, plan, {1});
    if (plan.start.size() != static_cast<std::size_t>(gangs)) state.SkipWithError("not all start");
  }
  state.SetItemsProcessed(state.iterations() * gangs);
}
void OneGpuJobs(benchmark::State& state) {
  Starts(state, 8000, 1, 1);
}
void GangsOf4x8(benchmark::State& state) {
  Starts(state, 250, 4, 8);
}
BENCHMARK(OneGpuJobs)->Unit(benchmark::kMillisecond);
BENCHMARK(GangsOf4x8)->Unit(benchmark::kMillisecond);

// 1,000 waiting gangs, a full fleet: the whole cycle anew, and again after one early end.
void Backfill(benchmark::State& state, int types, bool whole) {
  base::Random random(7);
  const std::unique_ptr<Planner> pool = Pool(1000, types);
  Planner& full = *pool;
  Fill(full, 1000, random);
  for (int job = 1; job <= 1000; ++job) {
    const int size = whole ? 8 : 1 << random.Between(0, 3);
    Ask ask = Gang(job, static_cast<int>(random.Between(1, 16)), size);
    ask.limit = base::Millis{random.Between(10, 1400) * kMinute};
    if (types > 1) ask.groups[0].demand.gpu_type = random.OneIn(2) ? "A" : "B";
    full.PutAsk(ask);
  }
  for (auto _ : state) {
    full.Forget();
    benchmark::DoNotOptimize(full.Cycle({0}));
  }
  state.counters["reserved"] = static_cast<double>(full.reservations().size());
}
void BackfillWhole(benchmark::State& state) {
  Backfill(state, 1, true);
}
void BackfillMixed(benchmark::State& state) {
  Backfill(state, 2, false);
}
BENCHMARK(BackfillWhole)->Unit(benchmark::kMillisecond);
BENCHMARK(BackfillMixed)->Unit(benchmark::kMillisecond);

// Nothing fits: the first cycle, one without news, one after an end that helps nobody.
std::unique_ptr<Planner> Pending(int jobs, int shapes, bool limits) {
  base::Random random(9);
  std::unique_ptr<Planner> pool = Pool(5000);
  Planner& planner = *pool;
  Fill(planner, 5000, random);
  for (int job = 1; job <= jobs; ++job) {
    const int shape = static_cast<int>(random.Below(static_cast<std::uint64_t>(shapes)));
    Ask ask = Gang(job, 1 + shape % 16, 8 - shape % 2 * 4);
    ask.groups[0].demand.cpu = {1000 + shape};
    if (limits) ask.limit = base::Millis{(60 + shape % 7) * kMinute};
    planner.PutAsk(ask);
  }
  return pool;
}
void PendingCold(benchmark::State& state) {
  const auto pool = Pending(100'000, static_cast<int>(state.range(0)), state.range(1) != 0);
  Planner& planner = *pool;
  for (auto _ : state) {
    planner.Forget();
    benchmark::DoNotOptimize(planner.Cycle({0}));
  }
}
void PendingNoNews(benchmark::State& state) {
  const auto pool = Pending(100'000, 500, true);
  Planner& planner = *pool;
  planner.Cycle({0});
  for (auto _ : state) benchmark::DoNotOptimize(planner.Cycle({1}));
}
BENCHMARK(PendingCold)
    ->Args({500, 1})
    ->Args({500, 0})
    ->Args({100'000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(PendingNoNews)->Unit(benchmark::kMillisecond);

// "Cannot", with the binding constraint: a gang of ten on 500 machines.
void Cannot(benchmark::State& state) {
  const auto pool = Pool(500);
  Planner& planner = *pool;
  base::Random random(3);
  Fill(planner, 500, random);
  int job = 0;
  for (auto _ : state) {
    ++job;
    planner.PutAsk(Gang(job, 10, job % 2 == 0 ? 9 : 8));
    benchmark::DoNotOptimize(planner.Cycle({0}));
    benchmark::DoNotOptimize(planner.Explain({job}));
    planner.DropAsk({job});
  }
}
BENCHMARK(Cannot)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pondage::plan

BENCHMARK_MAIN();
