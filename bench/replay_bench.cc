// The published traces through the pool in virtual time, beside what is published about them.
//
//   replay_bench [word ...]    rows whose name has one of the words; none: all (an hour and more)
//
// Each row runs in a process of its own, so that its CPU seconds and memory are its own. What a row
// rests on (costs, limits) stands in its last column. Figures: docs/decisions/0021,
// bench/README.md.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "packing.h"
#include "plan/planner.h"
#include "replay/player.h"
#include "replay/story.h"
#include "report/figures.h"
#include "trace/read.h"

namespace pondage::bench {
namespace {

template <class T>
T Must(base::Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}: {}\n", result.error().object, result.error().message);
  std::exit(1);
}

std::string Traces() {
  return PONDAGE_SOURCE_DIR "/data/traces";
}

trace::Workload Read(trace::Format format, const std::string& path, const trace::Take& take = {}) {
  return Must(trace::Read(trace::Disk(Traces()), format, path, take));
}

// As users state them who know exactly; without, the planner knows nothing of any end.
trace::Workload Exact(trace::Workload workload) {
  for (trace::Job& job : workload.jobs) job.limit = job.duration;
  return workload;
}

report::Figures Played(const trace::Workload& workload, const std::string& policy = "pondage") {
  return report::FiguresOf(Must(replay::PlayNamed(workload, policy, {})));
}

double MeanJct(const trace::Workload& workload, const std::string& policy = "pondage") {
  const report::Figures figures = Played(workload, policy);
  REQUIRE(figures.unfinished == 0);
  return figures.jct_s.mean;
}

struct Row {
  std::string name;
  std::string unit;
  std::string published;
  std::string must, aim;
  std::function<double()> run;
  std::string how;
};

// ---- Muri: 64 GPUs as 8 x 8, average JCT. Published figures carry 1.5 % and start costs.

Row Muri(const std::string& file, bool at_once, bool exact, const std::string& published,
         const std::string& must, const std::string& aim) {
  return {fmt::format("Muri {}{}{}", file, at_once ? ", all at once" : "",
                      exact ? ", limits known" : ""),
          "s",
          published,
          must,
          aim,
          [=] {
            trace::Workload workload =
                Read(trace::Format::kMuri, "muri/" + file + ".csv", {.at_once = at_once});
            return MeanJct(exact ? Exact(std::move(workload)) : workload);
          },
          "pool; nothing is evicted, no costs"};
}

Row MuriPlain(const std::string& file, const std::string& policy, const std::string& published) {
  return {fmt::format("Muri {}, {}", file, policy),
          "s",
          published,
          "",
          "",
          [=] { return MeanJct(Read(trace::Format::kMuri, "muri/" + file + ".csv"), policy); },
          "plain, without the authors' costs"};
}

std::vector<Row> MuriRows() {
  return {Muri("trace1", false, true, "SRSF 980,141", "980141", "882000"),
          Muri("trace1", false, false, "SRSF 980,141", "980141", "882000"),
          Muri("trace2", false, true, "SRSF 2,213,950", "2213950", "2103000"),
          Muri("trace2", false, false, "SRSF 2,213,950", "2213950", "2103000"),
          Muri("trace1", true, true, "SRSF 1,801,860", "1801860", ""),
          Muri("trace2", true, true, "SRSF 3,384,600", "3384600", ""),
          Muri("cluster_trace", false, true, "SRSF 238,612", "238612", ""),
          MuriPlain("trace1", "srsf", "980,141"),
          MuriPlain("trace2", "srsf", "2,213,950"),
          MuriPlain("trace1", "sjf", "1,917,148"),
          MuriPlain("trace2", "sjf", "5,251,153")};
}

// ---- Pollux: 64 GPUs as 16 x 4, fixed GPUs and batch, the mean of four workloads.

Row Pollux(const std::string& load, const std::string& tiresias, const std::string& pollux,
           bool exact) {
  return {fmt::format("Pollux load {}{}", load, exact ? ", limits known" : ""),
          "s",
          fmt::format("Tiresias {}, Pollux {}", tiresias, pollux),
          tiresias,
          fmt::format("{:.1f}", 1.1 * std::stod(pollux)),
          [=] {
            double sum = 0;
            for (int i = 1; i <= 4; ++i) {
              trace::Workload workload = Read(
                  trace::Format::kPollux, fmt::format("pollux/load-{}/workload-{}.csv", load, i),
                  {.speeds = "pollux/models"});
              sum += MeanJct(exact ? Exact(std::move(workload)) : workload);
            }
            return sum / 4;
          },
          "pool; rigid jobs, no pause on starts"};
}

std::vector<Row> PolluxRows() {
  std::vector<Row> rows;
  const char* kLoads[][3] = {{"0.5", "1900.2", "1423.5"},
                             {"1.0", "3693.8", "2580.3"},
                             {"1.5", "5998.3", "3609.7"},
                             {"2.0", "9796.7", "5192.8"}};
  for (const auto& [load, tiresias, pollux] : kLoads) {
    rows.push_back(Pollux(load, tiresias, pollux, false));
    rows.push_back(Pollux(load, tiresias, pollux, true));
  }
  return rows;
}

// ---- Gavel: 8 V100, 16 P100, 24 K80; no rounds.

trace::Workload GavelJobs(const std::string& file) {
  return Read(trace::Format::kGavel, "gavel/" + file + ".csv",
              {.speeds = "gavel/throughputs.json"});
}

std::vector<Row> GavelRows() {
  std::vector<Row> rows;
  for (const char* policy : {"pondage", "bestfit"}) {
    const bool pool = std::string_view(policy) == "pondage";
    rows.push_back({fmt::format("Gavel average JCT, {}", policy), "h",
                    "Gavel 3.98, blind LAS 4.95, FIFO 9.85", pool ? "3.98" : "", pool ? "3.2" : "",
                    [=] { return MeanJct(GavelJobs("max_min_fairness"), policy) / 3'600; },
                    "96 jobs; no type is preferred"});
    rows.push_back(
        {fmt::format("Gavel makespan, {}", policy), "h", "Gavel 17.48, blind 23.14, FIFO 70.38",
         pool ? "17.48" : "", pool ? "17.2" : "",
         [=] { return Played(GavelJobs("minimize_makespan"), policy).makespan_s / 3'600; },
         "100 jobs at once; no type is preferred"});
  }
  return rows;
}

// ---- Philly, October and November: islands of the tenants against one pool.

struct Tenant {
  const char* name;
  int servers;
};
constexpr Tenant kTenants[] = {{"6214e9", 64}, {"7f04ca", 32}, {"11cb48", 16}, {"b436b2", 64},
                               {"ee9e8c", 64}, {"e13805", 16}, {"6c71a0", 32}, {"2869ce", 16},
                               {"ed69ec", 8},  {"103959", 8},  {"0e4a51", 32}};

// `gpus`: of the pool, on machines of eight; a tenant's guarantee is k GPUs for each of its
// servers.
trace::Workload Philly(int k, int gpus, std::int64_t faster_milli = 1'000) {
  trace::Take take{.from = base::Instant{1'506'816'000'000},
                   .until = base::Instant{1'512'086'400'000},
                   .fleet = {{.name = "node", .count = gpus / 8, .gpus = 8}}};
  for (const Tenant& tenant : kTenants) take.queues.insert(tenant.name);
  trace::Workload workload = Read(trace::Format::kPhilly, "philly/jobs.csv", take);
  workload.queues.clear();
  for (const Tenant& tenant : kTenants) {
    workload.queues.push_back(
        {.name = tenant.name, .guarantee = base::WholeGpus(std::int64_t{tenant.servers} * k)});
  }
  REQUIRE(trace::Hurry(workload.jobs, faster_milli));
  return workload;
}

Row PhillyIslands(int k, const std::string& policy, const std::string& published) {
  return {fmt::format("Philly islands k={}, {}", k, policy),
          "s",
          published,
          published,
          "",
          [=] {
            trace::Workload workload = Philly(k, 352 * k);
            workload.policy.name = policy;
            return report::FiguresOf(Must(replay::PlayIslands(workload, {}))).wait_s.mean;
          },
          "mean queue; the same with the plain policy"};
}
Row PhillyPool(int k, int gpus, const std::string& policy, const std::string& published) {
  return {fmt::format("Philly pool of {}, {}", gpus, policy),
          "s",
          published,
          published,
          "",
          [=] { return Played(Philly(k, gpus), policy).wait_s.mean; },
          "mean queue; the same with the plain policy"};
}

// By how much the worst-off tenant waits longer than alone on its island, as fast: mean waits in s.
double WorstLoss(const std::string& islands_policy) {
  const trace::Workload workload = Philly(4, 1'408, 2'000);
  trace::Workload alone = workload;
  alone.policy.name = islands_policy;
  const report::Figures pool = Played(workload);
  const report::Figures islands = report::FiguresOf(Must(replay::PlayIslands(alone, {})));
  const auto worst = report::WorstAgainst(pool, islands);
  return worst ? worst->here_s - worst->alone_s : 0;
}

std::vector<Row> PhillyRows() {
  return {PhillyIslands(4, "fifo", "5078"),
          PhillyIslands(4, "fit", "2169"),
          PhillyIslands(4, "sjf", "1507"),
          PhillyPool(4, 704, "fifo", "4620"),
          PhillyPool(4, 672, "fit", "1737"),
          PhillyPool(4, 632, "sjf", "1459"),
          {"Philly pool of 632, ours", "s", "SJF 1,459; islands 1,507", "1507", "",
           [] { return Played(Exact(Philly(4, 632))).wait_s.mean; }, "mean queue; limits known"},
          {"Philly pool of 560, ours", "s", "SJF islands 1,507", "", "1507",
           [] { return Played(Exact(Philly(4, 560))).wait_s.mean; }, "mean queue; limits known"},
          {"Philly 1,408 at F=2, worst tenant", "s", "FIFO pool: e13805 +53", "0", "",
           [] { return WorstLoss("fit"); },
           "longer than on its own island (first that fits), at the same F"}};
}

// ---- the shipped example

Row ThreeTeams(const std::string& name, bool exact, std::size_t chapter) {
  return {"three teams, " + name,
          "s",
          "first that fits: 13,648; 2,102; 12,477",
          "",
          "",
          [=] {
            trace::Workload workload =
                Must(trace::Read(trace::Disk(PONDAGE_SOURCE_DIR "/examples"),
                                 trace::Format::kPondage, "three-teams.yaml"));
            if (exact) workload = Exact(std::move(workload));
            const auto ignore = [](const std::string&, std::size_t, std::size_t) {};
            return Must(replay::PlayStory(workload, {}, 1, ignore))[chapter].figures.wait_s.mean;
          },
          exact ? "mean wait; limits known" : "mean wait; lengths unknown"};
}

std::vector<Row> ThreeTeamsRows() {
  std::vector<Row> rows;
  for (const bool exact : {false, true}) {
    rows.push_back(ThreeTeams("islands", exact, 0));
    rows.push_back(ThreeTeams("pool", exact, 1));
    rows.push_back(ThreeTeams("pool, 2.1x jobs", exact, 2));
  }
  return rows;
}

// ---- openb: GPUs allocated when as much has arrived as there is; seeds 42 to 45.

fleet::Demand DemandOf(const packing::Cluster& cluster, std::size_t pod) {
  const trace::Member& asked = cluster.workload.jobs[pod].gang.front();
  fleet::Demand demand{.cpu = asked.cpu, .memory = asked.memory};
  const bool is_part = asked.gpu.value % 1'000 != 0;
  demand.gpus = is_part ? 1 : static_cast<int>(asked.gpu.value / 1'000);
  if (is_part) demand.share = asked.gpu;
  if (!asked.gpu_types.empty()) {
    demand.gpu_type = asked.gpu_types.front();
    demand.or_types.assign(asked.gpu_types.begin() + 1, asked.gpu_types.end());
  }
  return demand;
}

double FilledByPlanner(const packing::Cluster& cluster, std::uint64_t seed) {
  plan::Planner planner;
  planner.PutQueue({.name = "default"});
  for (fleet::Node& node : trace::Nodes(cluster.workload.fleet)) planner.SeeNode(std::move(node));
  std::map<fleet::Demand, std::int64_t> counts;
  for (std::size_t pod = 0; pod < cluster.pods.size(); ++pod) ++counts[DemandOf(cluster, pod)];
  std::vector<plan::Typical> typical;
  for (const auto& [demand, count] : counts) typical.push_back({demand, count});
  planner.Expect(typical);
  std::int64_t arrived = 0, held = 0, job = 0;
  for (const std::size_t pod : packing::Arrivals(cluster, seed)) {
    const std::int64_t milli = packing::MilliOf(cluster.pods[pod]);
    arrived += milli;
    if (arrived > cluster.milli_gpu) break;
    plan::Ask ask{.job = {++job}, .queue = "default", .arrived = {job}};
    ask.groups.push_back({base::Role::kWorker, 1, DemandOf(cluster, pod)});
    planner.PutAsk(ask);
    for (const plan::Placement& placement : planner.Cycle({job}).start) {
      planner.Bind({.job = ask.job, .queue = "default"}, placement.grants.front(), {job});
      held += milli;
    }
    planner.DropAsk(ask.job);
  }
  return 100.0 * static_cast<double>(held) / static_cast<double>(cluster.milli_gpu);
}

std::vector<Row> OpenbRows() {
  struct Published {
    const char *pods, *fgd, *best_fit, *aim;
  };
  constexpr Published kPublished[] = {
      {"default", "95.23", "92.86", "96.3"},   {"cpu050", "95.00", "93.56", ""},
      {"cpu100", "95.21", "93.26", ""},        {"cpu250", "93.20", "91.21", ""},
      {"gpushare40", "93.96", "91.44", ""},    {"gpushare60", "91.25", "89.06", ""},
      {"gpushare100", "86.64", "84.62", "88"}, {"gpuspec10", "94.66", "93.10", ""},
      {"gpuspec20", "94.66", "88.46", ""},     {"gpuspec33", "87.84", "80.40", "93"},
      {"multigpu20", "95.53", "93.73", ""},    {"multigpu30", "96.36", "94.57", ""},
      {"multigpu50", "97.09", "95.62", ""}};
  std::vector<Row> rows;
  for (const Published& one : kPublished) {
    const auto mean = [pods = std::string(one.pods)](auto filled) {
      const packing::Cluster cluster = Must(packing::Read(Traces(), pods));
      double sum = 0;
      for (std::uint64_t seed = 42; seed < 46; ++seed) sum += filled(cluster, seed);
      return sum / 4;
    };
    const auto plain = [mean](baseline::Placing placing) {
      return [=] {
        return mean([placing](const packing::Cluster& cluster, std::uint64_t seed) {
          return packing::FilledAt100(cluster, placing, seed);
        });
      };
    };
    rows.push_back({fmt::format("openb {}, ours", one.pods), "%", std::string("FGD ") + one.fgd,
                    one.fgd, one.aim, [mean] { return mean(FilledByPlanner); }, "planner alone"});
    rows.push_back({fmt::format("openb {}, fgd", one.pods), "%", one.fgd, "", "",
                    plain(baseline::Placing::kFgd), "baseline"});
    rows.push_back({fmt::format("openb {}, bestfit", one.pods), "%", one.best_fit, "", "",
                    plain(baseline::Placing::kBestFit), "baseline"});
  }
  return rows;
}

// ---- the table

std::string Verdict(const Row& row, double measured) {
  const double sign = row.unit == "%" ? -1 : 1;  // of GPUs in use more is better, of time less
  const auto reaches = [&](const std::string& bound) {
    // Bounds are told as rounded as published figures are.
    return !bound.empty() &&
           sign * measured <= sign * std::stod(bound) + (row.unit == "s" ? 0.5 : 0);
  };
  if (reaches(row.aim)) return "aim";
  if (row.must.empty()) return "";
  return reaches(row.must) ? "must" : "MISSED";
}

void Show(const Row& row) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const double measured = row.run();
    const ssize_t written = write(ends[1], &measured, sizeof measured);
    _exit(written == sizeof measured ? 0 : 1);
  }
  close(ends[1]);
  double measured = 0;
  const bool told = read(ends[0], &measured, sizeof measured) == sizeof measured;
  close(ends[0]);
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  if (!told) {
    fmt::print("| {} | did not end | {} | {} | {} | | | | {} |\n", row.name, row.published,
               row.must, row.aim, row.how);
    return;
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  fmt::print("| {} | {:.{}f} {} | {} | {} | {} | {} | {:.1f} | {} | {} |\n", row.name, measured,
             row.unit == "s" ? 0 : 2, row.unit, row.published, row.must, row.aim,
             Verdict(row, measured), seconds(usage.ru_utime) + seconds(usage.ru_stime),
             usage.ru_maxrss / 1024, row.how);
  std::fflush(stdout);
}

}  // namespace
}  // namespace pondage::bench

int main(int argc, char** argv) {
  using pondage::bench::Row;
  const std::vector<std::string> words(argv + 1, argv + argc);
  fmt::print("| what | measured | published | must | aim | met | CPU s | MiB | how |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  for (const auto& rows : {pondage::bench::MuriRows(), pondage::bench::PolluxRows(),
                           pondage::bench::GavelRows(), pondage::bench::ThreeTeamsRows(),
                           pondage::bench::PhillyRows(), pondage::bench::OpenbRows()}) {
    for (const Row& row : rows) {
      const bool wanted = words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
                            return row.name.find(word) != std::string::npos;
                          });
      if (wanted) pondage::bench::Show(row);
    }
  }
  return 0;
}
