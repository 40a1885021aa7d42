// The real pool in virtual time against the plain policies, where both must agree: jobs of one size
// are served strictly as they came, whatever fits otherwise.

#include <gtest/gtest.h>

#include <set>

#include "plain_runs.h"
#include "replay/player.h"
#include "trace/read.h"

namespace pondage {
namespace {

TEST(RealPool, ServesPhillyJobsOfOneSizeAsFifoDoes) {
  auto read = trace::Read(trace::Disk(PONDAGE_SOURCE_DIR "/data/traces"), trace::Format::kPhilly,
                          "philly/jobs.csv",
                          {.from = base::Instant{1'506'816'000'000},
                           .until = base::Instant{1'512'086'400'000},
                           .queues = {"103959", "ed69ec"},
                           .fleet = {{.name = "node", .count = 4, .gpus = 8}}});
  ASSERT_TRUE(read) << read.error().message;
  std::erase_if(read->jobs,
                [](const trace::Job& job) { return trace::GpuOf(job) != base::WholeGpus(1); });
  ASSERT_GT(read->jobs.size(), 1'500u);
  // One queue and one user: nobody is owed more than another, so arrival alone decides.
  for (trace::Job& job : read->jobs) {
    job.queue = read->jobs.front().queue;
    job.user.clear();
  }
  std::vector<baseline::Job> plain;
  for (const trace::Job& job : read->jobs)
    plain.push_back({job.submit.unix_ms, job.duration.value, 1});
  const auto starts = baseline::Starts(plain, 4, 8, baseline::Policy::kFifo);
  ASSERT_GT(baseline::MeanWaitS(plain, starts), 60) << "nothing waits: nothing is compared";
  const auto run = replay::Play(*read, {});
  ASSERT_TRUE(run) << run.error().message;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(run->jobs[i].stays.front().from.unix_ms, starts[i]) << run->jobs[i].name;
  }
}

}  // namespace
}  // namespace pondage
