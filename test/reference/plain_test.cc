// The plain policies give their published figures, to the last digit printed: only then may they
// judge another.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "plain_runs.h"
#include "trace/read.h"

namespace pondage::baseline {
namespace {

using Jobs = std::vector<Job>;

struct Tenants {
  Jobs all;
  std::map<std::string, Jobs> by_tenant;
};

Tenants Get(trace::Format format, const std::string& path, const trace::Take& take = {}) {
  const auto read = trace::Read(trace::Disk(PONDAGE_SOURCE_DIR "/data/traces"), format, path, take);
  if (!read) {
    ADD_FAILURE() << read.error().object << ": " << read.error().message;
    return {};
  }
  Tenants tenants;
  for (const trace::Job& job : read->jobs) {
    const Job plain{job.submit.unix_ms, job.duration.value,
                    static_cast<int>(trace::GpuOf(job).value / 1'000)};
    tenants.all.push_back(plain);
    tenants.by_tenant[job.queue].push_back(plain);
  }
  return tenants;
}

// Servers of the tenants in the paper that published them.
const std::map<std::string, int> kServers = {
    {"6214e9", 64}, {"7f04ca", 32}, {"11cb48", 16}, {"b436b2", 64}, {"ee9e8c", 64}, {"e13805", 16},
    {"6c71a0", 32}, {"2869ce", 16}, {"ed69ec", 8},  {"103959", 8},  {"0e4a51", 32}};

// October and November of these tenants.
Tenants Philly(const std::set<std::string>& tenants) {
  return Get(trace::Format::kPhilly, "philly/jobs.csv",
             {.from = base::Instant{1'506'816'000'000},
              .until = base::Instant{1'512'086'400'000},
              .queues = tenants,
              .machines = "philly/machines.csv"});
}

Jobs Faster(Jobs jobs, double factor) {
  const std::int64_t first = jobs.front().submit_ms;
  for (Job& job : jobs) {
    job.submit_ms =
        first + static_cast<std::int64_t>(static_cast<double>(job.submit_ms - first) / factor);
  }
  return jobs;
}

TEST(Plain, MuriWithoutPreemptionOnEightMachines) {
  struct Row {
    std::string file;
    double fifo, fit, shortest;
  };
  const Row rows[] = {{"trace1", 11'001'202, 5'548'761, 1'917'148},
                      {"trace2", 24'417'278, 10'970'092, 5'251'153},
                      {"cluster_trace", 747'499, 428'101, 252'389}};
  for (const Row& row : rows) {
    const Jobs jobs = Get(trace::Format::kMuri, "muri/" + row.file + ".csv").all;
    const auto jct = [&](Policy policy) {
      return std::round(MeanJctS(jobs, Ends(jobs, 8, 8, policy)));
    };
    EXPECT_EQ(jct(Policy::kFifo), row.fifo) << row.file;
    EXPECT_EQ(jct(Policy::kFit), row.fit) << row.file;
    EXPECT_EQ(jct(Policy::kShortest), row.shortest) << row.file;
  }
}

// Muri's own simulator makes every iteration 1.5 % longer and takes a start cost from every running
// job at every event; without them its preemptive policies come out 2.5 to 4 % lower, never more.
TEST(Plain, MuriWithPreemptionIsThePublishedWithoutItsCosts) {
  struct Row {
    std::string file;
    Policy policy;
    double published;
  };
  const Row rows[] = {{"trace1", Policy::kRemainingTime, 1'370'603},
                      {"trace1", Policy::kRemainingService, 980'141},
                      {"trace2", Policy::kRemainingTime, 2'665'607},
                      {"trace2", Policy::kRemainingService, 2'213'950}};
  for (const Row& row : rows) {
    const Jobs jobs = Get(trace::Format::kMuri, "muri/" + row.file + ".csv").all;
    const double ratio = row.published / MeanJctS(jobs, Ends(jobs, 8, 8, row.policy));
    EXPECT_GT(ratio, 1.025) << row.file;
    EXPECT_LT(ratio, 1.045) << row.file;
  }
}

// On sixteen GPUs taken as one machine. Published and not had: fewest GPUs first 198.2 and SRSF
// 195.9, which are runs of Tiresias' own simulator with its placement (here 192.1 and 195.0).
TEST(Plain, TiresiasSixtyJobs) {
  const Jobs jobs = Get(trace::Format::kTiresias, "tiresias/60_job.csv").all;
  const auto tenths = [](double seconds) { return std::round(seconds * 10) / 10; };
  const auto jct = [&](Policy policy) { return tenths(MeanJctS(jobs, Ends(jobs, 1, 16, policy))); };
  EXPECT_EQ(jct(Policy::kFifo), 200.8);
  EXPECT_EQ(jct(Policy::kFit), 190.7);
  EXPECT_NEAR(jct(Policy::kShortest), 192.1, 0.11);  // 192.15: two jobs of one length
  EXPECT_EQ(tenths(MeanJctS(jobs, Ends(jobs, 1, 16, Policy::kRemainingTime))), 192.1);
  // Two-level LAS: no job reaches the first threshold of 3,250 GPU-seconds.
  EXPECT_EQ(tenths(MeanJctS(jobs, Ends(jobs, 1, 16, Policy::kAttained))), 190.7);
  for (const Policy policy : {Policy::kFifo, Policy::kFit, Policy::kShortest}) {
    EXPECT_NEAR(MeanWaitS(jobs, Starts(jobs, 4, 8, policy)), 0, 1e-9) << "32 GPUs never queue";
  }
}

struct Islands {
  double wait_s = 0, utilisation = 0;
};

Islands Alone(const Tenants& tenants, Policy policy, int gpus_a_server, double faster = 1) {
  Islands islands;
  double gpus = 0, used = 0;
  const std::int64_t first = tenants.all.front().submit_ms, last = tenants.all.back().submit_ms;
  for (const auto& [tenant, plain] : tenants.by_tenant) {
    const Jobs jobs = Faster(plain, faster);
    const int own = kServers.at(tenant) * gpus_a_server;
    const auto starts = Starts(jobs, own / 8, 8, policy);
    islands.wait_s += MeanWaitS(jobs, starts) * static_cast<double>(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::int64_t end = std::min(starts[i] + jobs[i].duration_ms, last);
      used += static_cast<double>(std::max<std::int64_t>(end - starts[i], 0)) * jobs[i].gpus;
    }
    gpus += own;
  }
  islands.wait_s /= static_cast<double>(tenants.all.size());
  islands.utilisation = used / gpus / static_cast<double>(last - first);
  return islands;
}

// k GPUs for every server of the tenants: islands, the same in one pool, the smallest pool that
// waits no longer, and how much faster jobs may come to the same pool.
TEST(Plain, IslandsAgainstThePool) {
  struct Row {
    Policy policy;
    int k;
    double islands_percent, islands_s, pool_s;
    std::optional<int> smallest;
    double smallest_percent, smallest_s;
    double faster, faster_percent;
  };
  const Row rows[] = {
      {Policy::kFifo, 4, 32.5, 5'078, 0, 704, 65.0, 4'620, 2.46, 76.6},
      {Policy::kFit, 4, 32.5, 2'169, 0, 672, 68.0, 1'737, 2.68, 82.5},
      {Policy::kShortest, 4, 32.5, 1'507, 0, 632, 72.4, 1'459, 2.86, 85.4},
      {Policy::kFifo, 2, 56.6, 181'574, 4'620, {}, 0, 0, 1.40, 87.5},
      {Policy::kFit, 2, 58.4, 53'737, 869, 448, 93.1, 50'052, 2.06, 92.8},
  };
  std::set<std::string> names;
  for (const auto& [name, servers] : kServers) names.insert(name);
  const Tenants philly = Philly(names);
  const auto percent = [](double share) { return std::round(share * 1'000) / 10; };
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message()
                 << "policy " << static_cast<int>(row.policy) << ", k " << row.k);
    const int gpus = 352 * row.k;
    const Islands islands = Alone(philly, row.policy, row.k);
    EXPECT_EQ(percent(islands.utilisation), row.islands_percent);
    EXPECT_EQ(std::round(islands.wait_s), row.islands_s);
    const auto pool = [&](int size, double faster) {
      const Jobs jobs = Faster(philly.all, faster);
      const auto starts = Starts(jobs, size / 8, 8, row.policy);
      return Islands{MeanWaitS(jobs, starts), Utilisation(jobs, starts, size)};
    };
    EXPECT_EQ(std::round(pool(gpus, 1).wait_s), row.pool_s);
    if (row.smallest) {
      EXPECT_EQ(percent(pool(*row.smallest, 1).utilisation), row.smallest_percent);
      EXPECT_EQ(std::round(pool(*row.smallest, 1).wait_s), row.smallest_s);
      EXPECT_GT(pool(*row.smallest - 8, 1).wait_s, islands.wait_s);
    }
    EXPECT_EQ(percent(pool(gpus, row.faster).utilisation), row.faster_percent);
    EXPECT_LE(pool(gpus, row.faster).wait_s, islands.wait_s);
    EXPECT_GT(pool(gpus, row.faster + 0.02).wait_s, islands.wait_s);
  }
}

// The shipped example: 48 GPUs a team, first that fits.
TEST(Plain, ThreeTeams) {
  const Tenants teams = Philly({"103959", "b436b2", "e13805"});
  double wait_s = 0;
  for (const auto& [team, jobs] : teams.by_tenant) {
    wait_s += MeanWaitS(jobs, Starts(jobs, 6, 8, Policy::kFit)) * static_cast<double>(jobs.size());
  }
  wait_s /= static_cast<double>(teams.all.size());
  const auto pool_wait_s = [&](double faster) {
    const Jobs jobs = Faster(teams.all, faster);
    return MeanWaitS(jobs, Starts(jobs, 18, 8, Policy::kFit));
  };
  EXPECT_LE(pool_wait_s(2.10), wait_s);
  EXPECT_GT(pool_wait_s(2.15), wait_s);
  const Jobs jobs = Faster(teams.all, 2.10);
  EXPECT_NEAR(Utilisation(jobs, Starts(jobs, 18, 8, Policy::kFit), 144), 0.748, 0.001);
}

}  // namespace
}  // namespace pondage::baseline
