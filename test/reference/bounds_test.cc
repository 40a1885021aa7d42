// The bounds of report on whole traces are the published ones.

#include "report/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "trace/read.h"

namespace pondage {
namespace {

TEST(PublishedBounds, OfMuriAndPhilly) {
  struct Row {
    std::string says;
    trace::Format format;
    std::string path;
    trace::Take take;
    std::int64_t gpus;
    double mean_duration_s, load, mean_jct_s, makespan_s, utilisation;
  };
  const trace::Take all{.machines = "philly/machines.csv"};
  trace::Take autumn = all;
  autumn.from = base::Instant{1'506'816'000'000};   // 2017-10-01
  autumn.until = base::Instant{1'512'086'400'000};  // 2017-12-01
  trace::Take at_once;
  at_once.at_once = true;
  using enum trace::Format;
  const Row rows[] = {
      {"t1", kMuri, "trace1", {}, 64, 250'452, 1.99, 672'360, 21'730'969, 0.992},
      {"t2", kMuri, "trace2", {}, 64, 99'986, 5.41, 2'027'335, 46'354'613, 1.000},
      {"testbed", kMuri, "cluster_trace", {}, 64, 57'153, 1.47, 151'822, 3'456'717, 0.998},
      {"t1 at once", kMuri, "trace1", at_once, 64, 250'452, 0, 1'633'261, -1, -1},
      {"t2 at once", kMuri, "trace2", at_once, 64, 99'986, 0, 3'251'984, -1, -1},
      {"Philly", kPhilly, "philly/jobs", all, 2'490, 13'136, 0.15, 13'136, 9'408'754, 0.150},
      {"Philly, autumn", kPhilly, "philly/jobs", autumn, 2'490, 11'480, 0.19, 11'480, 6'469'551,
       0.154},
      {"sixty", kTiresias, "tiresias/60_job", {}, 16, 178.4, -1, 178.4, -1, -1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.says);
    const std::string path = (row.format == kMuri ? "muri/" : "") + row.path + ".csv";
    const auto workload =
        trace::Read(trace::Disk(PONDAGE_SOURCE_DIR "/data/traces"), row.format, path, row.take);
    ASSERT_TRUE(workload) << workload.error().message;
    std::vector<report::Load> loads;
    for (const trace::Job& job : workload->jobs) {
      loads.push_back({job.submit, job.duration, trace::GpuOf(job)});
    }
    const report::Bounds bounds = report::BoundsOf(loads, base::WholeGpus(row.gpus));
    EXPECT_NEAR(bounds.mean_duration_s, row.mean_duration_s, 0.5);
    EXPECT_NEAR(bounds.mean_jct_s, row.mean_jct_s, 0.51);
    if (row.load >= 0) {
      EXPECT_NEAR(bounds.load, row.load, 0.0051);
    }
    if (row.makespan_s >= 0) {
      EXPECT_NEAR(bounds.makespan_s, row.makespan_s, 0.51);
      EXPECT_NEAR(bounds.utilisation, row.utilisation, 0.00051);
    }
  }
}

}  // namespace
}  // namespace pondage
