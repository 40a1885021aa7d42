// The pool at the sizes of the planner's gates, from facts to decisions: reasons, statuses and
// charges included, no store around it.
//
//   pool_bench [word ...]    rows whose name has one of the words; none: all
//
// Each row runs in a process of its own, so that its memory is its own. Times are CPU seconds of
// what is measured; the rest of a row (filling the pool) is not counted.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/random.h"
#include "pool/pool.h"

namespace pondage::pool {
namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr base::Instant kStart{1'700'000'000'000};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// CPU seconds that `work` takes.
double Timed(const std::function<void()>& work) {
  const double before = CpuSeconds();
  work();
  return CpuSeconds() - before;
}

std::string NodeName(int number) {
  return fmt::format("node-{:05}", number);
}

std::vector<Fact> Machines(int count) {
  std::vector<Fact> facts{QueuePut{{.name = "default"}}};
  for (int number = 0; number < count; ++number) {
    fleet::Node node{
        .name = NodeName(number), .cpu = {96'000}, .memory = {std::int64_t{768} << 30}};
    for (int gpu = 0; gpu < 8; ++gpu) {
      node.gpus.push_back({.id = fmt::format("GPU-{}-{}", number, gpu), .type = "A"});
    }
    facts.emplace_back(NodeSeen{std::move(node)});
  }
  return facts;
}

JobApplied Job(int id, int workers, int gpus, std::int64_t limit_minutes = 0) {
  JobApplied fact{.identity = {.id = {id},
                               .space = "lab",
                               .name = fmt::format("train-{}", id),
                               .uid = fmt::format("uid-{}", id),
                               .created = kStart}};
  fact.spec.roles[base::Role::kWorker] = {.replicas = workers,
                                          .restart = job::RestartPolicy::kOnFailure,
                                          .demand = {.gpus = gpus, .cpu = {1000}}};
  fact.spec.user = fmt::format("user-{}", id % 20);
  if (limit_minutes > 0) fact.spec.deadline = base::Millis{limit_minutes * kMinute};
  return fact;
}

template <class Kind>
std::int64_t CountOf(const std::vector<Decision>& decisions) {
  return std::ranges::count_if(
      decisions, [](const Decision& decision) { return std::holds_alternative<Kind>(decision); });
}

Settings Wide() {
  Settings settings;
  settings.first_port = 1;
  settings.last_port = 1'000'000;
  return settings;
}

struct Measured {
  double value = 0;  // in the row's unit
  double cpu_s = 0;
};

// ---- rows

Measured Starts(int jobs, int members, int gpus) {
  Pool pool(Wide());
  pool.Step(Machines(1000), kStart);
  std::vector<Fact> facts;
  for (int id = 1; id <= jobs; ++id) facts.emplace_back(Job(id, members, gpus));
  std::vector<Decision> decisions;
  const double cpu_s = Timed([&] { decisions = pool.Step(facts, kStart); });
  REQUIRE(CountOf<StartReplica>(decisions) == std::int64_t{jobs} * members);
  return {jobs / cpu_s, cpu_s};
}

// Every machine is held by a job of its own, until a limit of its own.
void Fill(Pool& pool, int machines, base::Random& random) {
  pool.Step(Machines(machines), kStart);
  std::vector<Fact> facts;
  for (int id = 1; id <= machines; ++id) {
    facts.emplace_back(Job(id, 1, 8, random.Between(1, 1400)));
  }
  REQUIRE(CountOf<StartReplica>(pool.Step(facts, kStart)) == machines);
}

Fact EndOf(int id, base::Instant at) {
  return ReplicaExited{{{id}, base::Role::kWorker, 0, 1}, {.code = 0, .at = at}};
}

// Gangs of 1 to 16 whole machines wait; a job ends early, and all is planned anew.
Measured Backfill() {
  base::Random random(7);
  Pool pool(Wide());
  Fill(pool, 1000, random);
  std::vector<Fact> facts;
  for (int id = 2001; id <= 3000; ++id) {
    facts.emplace_back(
        Job(id, static_cast<int>(random.Between(1, 16)), 8, random.Between(10, 1400)));
  }
  pool.Step(facts, kStart);
  constexpr int kCycles = 20;
  double cpu_s = 0;
  base::Instant now = kStart;
  for (int cycle = 1; cycle <= kCycles; ++cycle) {
    now = now + base::Millis{1000};
    const Fact end = EndOf(cycle, now);
    cpu_s += Timed([&] { pool.Step(std::span(&end, 1), now); });
  }
  return {cpu_s / kCycles * 1000, cpu_s};
}

void AddPending(Pool& pool, int jobs, int shapes) {
  base::Random random(9);
  std::vector<Fact> facts;
  for (int id = 1; id <= jobs; ++id) {
    const auto shape = static_cast<int>(random.Below(static_cast<std::uint64_t>(shapes)));
    JobApplied fact = Job(100'000 + id, 1 + shape % 16, 8 - shape % 2 * 4, 60 + shape % 7);
    fact.spec.roles.at(base::Role::kWorker).demand.cpu = {1000 + shape};
    facts.emplace_back(std::move(fact));
  }
  pool.Step(facts, kStart);
}

// 100,000 wait and nothing fits; a limit of a running job ends nothing, one job more comes.
Measured Pending(int shapes, bool news) {
  base::Random random(3);
  Pool pool(Wide());
  Fill(pool, 5000, random);
  AddPending(pool, 100'000, shapes);
  constexpr int kSteps = 10;
  double cpu_s = 0;
  base::Instant now = kStart;
  for (int step = 1; step <= kSteps; ++step) {
    now = now + base::Millis{100};
    std::vector<Fact> facts;
    if (news) facts.emplace_back(Job(300'000 + step, 16, 8, 60));
    cpu_s += Timed([&] { pool.Step(facts, now); });
  }
  return {cpu_s / kSteps * 1000, cpu_s};
}

// The first step with 100,000 that cannot start: each is judged, planned for and told why.
Measured PendingCold(int shapes) {
  base::Random random(3);
  Pool pool(Wide());
  Fill(pool, 5000, random);
  const double cpu_s = Timed([&] { AddPending(pool, 100'000, shapes); });
  return {cpu_s, cpu_s};
}

// "Cannot", in words, before the job is stored.
Measured Cannot() {
  base::Random random(3);
  Pool pool(Wide());
  Fill(pool, 500, random);
  constexpr int kAsked = 200;
  std::int64_t told = 0;
  const double cpu_s = Timed([&] {
    for (int i = 0; i < kAsked; ++i) {
      const JobApplied asked = Job(900'000, 10, i % 2 == 0 ? 8 : 9);
      const job::Status status = pool.Preview(asked.identity, asked.spec, {}, kStart);
      told += status.reason ? 1 : 0;
    }
  });
  REQUIRE(told == kAsked);
  return {cpu_s / kAsked * 1000, cpu_s};
}

// What a store held: every GPU of 17,500 machines runs a replica of some job; one more job waits.
Measured Restart() {
  Pool before(Wide());
  before.Step(Machines(17'500), kStart);
  std::vector<Fact> facts;
  for (int id = 1; id <= 35'000; ++id) facts.emplace_back(Job(id, 4, 1));
  before.Step(facts, kStart);
  before.Step(std::vector<Fact>{Job(35'001, 4, 1)}, kStart);
  facts = Machines(17'500);
  std::int64_t replicas = 0;
  for (const auto& [id, view] : before.jobs()) {
    facts.emplace_back(JobLoaded{view.identity, view.spec, view.status});
    replicas += static_cast<std::int64_t>(view.status.replicas.size());
  }
  REQUIRE(replicas == 140'000);
  Pool pool(Wide());
  const double cpu_s = Timed([&] {
    pool.Remember(facts);
    pool.Step(std::vector<Fact>{EndOf(1, kStart)}, kStart);
  });
  return {cpu_s, cpu_s};
}

struct Row {
  std::string name;
  std::string unit;
  bool more = false;  // more is better
  double must = 0;
  double aim = 0;
  std::function<Measured()> run;
};

std::vector<Row> Rows() {
  return {
      {"start 8,000 x 1 GPU", "jobs/CPU-s", true, 50'000, 300'000,
       [] { return Starts(8000, 1, 1); }},
      {"start 250 gangs 4 x 8", "gangs/CPU-s", true, 5'000, 30'000,
       [] { return Starts(250, 4, 8); }},
      {"backfill 1,000 gangs", "ms a cycle", false, 300, 30, Backfill},
      {"pending 100k, 500 shapes, cold", "s", false, 10, 2, [] { return PendingCold(500); }},
      {"pending 100k, 500 shapes, news", "ms a step", false, 250, 50,
       [] { return Pending(500, true); }},
      {"pending 100k, 500 shapes, none", "ms a step", false, 5, 1,
       [] { return Pending(500, false); }},
      {"pending 100k shapes, cold", "s", false, 10, 2, [] { return PendingCold(100'000); }},
      {"pending 100k shapes, news", "ms a step", false, 2000, 300,
       [] { return Pending(100'000, true); }},
      {"cannot, 10 on 500 machines", "ms", false, 100, 5, Cannot},
      {"restart 140,000 replicas", "s", false, 5, 1, Restart},
  };
}

void Show(const Row& row) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Measured measured = row.run();
    const ssize_t written = write(ends[1], &measured, sizeof measured);
    _exit(written == sizeof measured ? 0 : 1);
  }
  close(ends[1]);
  Measured measured;
  const bool told = read(ends[0], &measured, sizeof measured) == sizeof measured;
  close(ends[0]);
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  if (!told) {
    fmt::print("{:<32} did not end\n", row.name);
    return;
  }
  const auto ratio = [&row, &measured](double bound) {
    return row.more ? measured.value / bound : bound / measured.value;
  };
  fmt::print("{:<32} {:>12.3f} {:<12} {:>9} {:>7.2f} {:>9} {:>7.2f} {:>8.3f} {:>7}\n", row.name,
             measured.value, row.unit, row.must, ratio(row.must), row.aim, ratio(row.aim),
             measured.cpu_s, usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

}  // namespace
}  // namespace pondage::pool

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  fmt::print("{:<32} {:>12} {:<12} {:>9} {:>7} {:>9} {:>7} {:>8} {:>7}\n", "row", "measured", "",
             "must", "x must", "aim", "x aim", "CPU s", "MiB");
  for (const pondage::pool::Row& row : pondage::pool::Rows()) {
    const bool wanted = words.empty() || std::ranges::any_of(words, [&row](const auto& word) {
                          return row.name.find(word) != std::string::npos;
                        });
    if (wanted) Show(row);
  }
  return 0;
}
