// Machines that fail, limits that are wrong, and what being interrupted costs.

#include <gtest/gtest.h>

#include "replay/chance.h"
#include "replay/player.h"
#include "replay/test_lab.h"
#include "report/figures.h"

namespace pondage::replay {
namespace {

base::Millis Since(const report::Run& run, base::Instant at) {
  return at - run.jobs.front().submit;
}
base::Millis Minutes(std::int64_t minutes) {
  return base::SecondsLong(60 * minutes);
}

constexpr std::string_view kOneOutage = R"(
fleet: [{servers: 2, gpus: 8}]
jobs: [{name: a, gpus: 16, lasts: 3h}, {name: b, gpus: 1, lasts: 1h, submitted: 10h}]
faults: {outages: [{server: node-2, at: 75m, for: 30m}]}
)";

TEST(Faults, AMachineTakesItsGangAlongAndTheGangWaitsForItsReturn) {
  for (const bool server : {false, true}) {
    const report::Run run = Played(Lab(kOneOutage), server);
    const report::Job& a = Named(run, "a");
    ASSERT_TRUE(a.finished);
    ASSERT_EQ(a.stays.size(), 2u);
    EXPECT_EQ(Since(run, a.stays[0].to), Minutes(75));
    EXPECT_EQ(Since(run, a.stays[1].from), Minutes(105));
    EXPECT_EQ(Since(run, a.stays[1].to), Minutes(210));  // nothing was lost
    EXPECT_EQ(a.failures, 1);
    EXPECT_EQ(a.evictions, 0);
    EXPECT_EQ(a.lost_milli_gpu_ms, 0);
  }
}

TEST(Faults, WorkSinceTheLastCheckpointAndTheRestartAreLost) {
  trace::Workload lab = Lab(kOneOutage);
  lab.policy.checkpoint_every = Minutes(10);
  lab.policy.restart = Minutes(1);
  const report::Run run = Played(lab);
  const report::Job& a = Named(run, "a");
  EXPECT_EQ(Since(run, a.stays[1].to), Minutes(105 + 1 + 110));
  EXPECT_EQ(a.lost_milli_gpu_ms, Minutes(5 + 1).value * 16'000);
  EXPECT_EQ(Named(run, "b").lost_milli_gpu_ms, 0);
  EXPECT_DOUBLE_EQ(report::FiguresOf(run).failures_per_job, 0.5);
}

TEST(Faults, AJobPastItsLimitIsCut) {
  trace::Workload lab = Lab(R"(
fleet: [{servers: 1, gpus: 8}]
jobs: [{name: a, gpus: 8, lasts: 2h}, {name: b, gpus: 8, lasts: 1h, submitted: 1m}]
faults: {limits: 0.5}
policy: {saving: 20s}
)");
  for (const bool server : {false, true}) {
    const report::Run run = Played(lab, server);
    const report::Job& a = Named(run, "a");
    EXPECT_TRUE(a.cut);
    EXPECT_FALSE(a.finished);
    EXPECT_EQ(a.evictions, 0);
    EXPECT_EQ(Since(run, a.stays[0].to), Minutes(60) + base::SecondsLong(1 + 20));
    EXPECT_EQ(a.lost_milli_gpu_ms, (a.stays[0].to - a.stays[0].from).value * 8'000);
    EXPECT_EQ(Named(run, "b").stays[0].from, a.stays[0].to);
    const report::Figures figures = report::FiguresOf(run);
    EXPECT_EQ(figures.cut, 2);
    EXPECT_EQ(figures.unfinished, 2);
  }
}

TEST(Faults, WhoCannotSaveWithinItsGraceIsKilled) {
  trace::Workload lab = Lab(R"(
fleet: [{servers: 1, gpus: 8}]
jobs: [{name: a, gpus: 8, lasts: 2h}]
faults: {limits: 0.5}
policy: {saving: 90s, grace: 30s}
)");
  for (const bool server : {false, true}) {
    const report::Run run = Played(lab, server);
    EXPECT_EQ(Since(run, run.jobs[0].stays[0].to), Minutes(60) + base::SecondsLong(1 + 30));
  }
}

TEST(Faults, WhoeverCannotGetOnIsNamed) {
  const auto run = Play(Lab(R"(
fleet: [{servers: 1, gpus: 8}]
jobs: [{name: long, gpus: 8, lasts: 20d}]
faults: {mtbf: 10m, repair: 1m}
policy: {checkpoint-every: 12h}
)"),
                        {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().object + ": " + run.error().message,
            "job long: its machines fail faster than it gets from checkpoint to checkpoint");
}

TEST(Faults, WhatWaitsForEverEndsTheRunThoughMachinesGoOnFailing) {
  const report::Run run = Played(Lab(R"(
fleet: [{servers: 2, gpus: 8}]
queues: [{name: small, limit: 4}]
jobs: [{name: large, queue: small, gpus: 8, lasts: 1h}, {name: fits, queue: small, gpus: 4, lasts: 1h}]
faults: {mtbf: 1h, repair: 10m}
)"));
  EXPECT_FALSE(Named(run, "large").finished);
  EXPECT_TRUE(Named(run, "fits").finished);
}

TEST(Faults, PlainPoliciesKnowNone) {
  trace::Workload lab = Lab(kOneOutage);
  lab.policy.name = "fifo";
  const auto run = Play(lab, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message,
            "plain policies know no failing machines; play pondage and islands");
}

trace::Workload Failing() {
  return Lab(R"(
fleet: [{servers: 40, gpus: 8}]
jobs: [{gpus: 1, lasts: 1h}]
faults: {mtbf: 10d, repair: 12h, limits: 0.5..2}
)");
}

TEST(Chance, MachinesFailAsOftenAsTheyAreSaidTo) {
  const trace::Workload lab = Failing();
  Outages outages(lab, {}, 3);
  const base::Instant end{400LL * 86'400'000};
  double away_days = 0;
  int failures = 0;
  std::map<std::string, base::Instant> since;
  while (outages.Next() <= end) {
    const base::Instant at = outages.Next();
    for (const auto& [machine, is_away] : outages.Until(at)) {
      if (is_away) {
        ++failures;
        since[machine] = at;
      } else {
        away_days += static_cast<double>((at - since.at(machine)).value) / 86'400'000;
      }
    }
  }
  EXPECT_NEAR(failures, 40 * 400 / 10.5, 120);  // three deviations
  EXPECT_NEAR(away_days, 40 * 400 * 0.5 / 10.5, 80);
}

TEST(Chance, ASeedIsTheSameForAllPoliciesAndAnotherIsNot) {
  const auto draws = [](const trace::Workload& lab, std::uint64_t seed) {
    std::string text;
    trace::Workload drawn = lab;
    DrawJobs(drawn, seed);
    for (const trace::Job& job : drawn.jobs) text += std::to_string(job.limit->value) + " ";
    Outages outages(lab, {}, seed);
    for (int i = 0; i < 50; ++i) {
      const base::Instant at = outages.Next();
      for (const auto& [machine, away] : outages.Until(at)) {
        if (machine == "node-7") text += std::to_string(at.unix_ms) + " ";
      }
    }
    return text;
  };
  const trace::Workload lab = Failing();
  trace::Workload smaller = lab;
  smaller.fleet.front() = {.name = "node-7", .count = 1, .gpus = 8};
  EXPECT_EQ(draws(lab, 1), draws(lab, 1));
  EXPECT_NE(draws(lab, 1), draws(lab, 2));
  EXPECT_TRUE(draws(smaller, 1).starts_with(draws(lab, 1)));  // what others draw changes nothing
}

TEST(Chance, JobsComeLaterInAnyOrder) {
  trace::Workload lab = Failing();
  lab.faults = {.arrivals = Minutes(120)};
  lab.jobs.clear();
  for (int i = 0; i < 100; ++i) {
    lab.jobs.push_back({.name = std::to_string(i), .submit = base::Instant{} + Minutes(i)});
  }
  const std::vector<trace::Job> before = lab.jobs;
  DrawJobs(lab, 1);
  EXPECT_TRUE(std::ranges::is_sorted(lab.jobs, {}, &trace::Job::submit));
  bool moved = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const trace::Job& job = *std::ranges::find(lab.jobs, before[i].name, &trace::Job::name);
    EXPECT_GE(job.submit, before[i].submit);
    EXPECT_LE(job.submit, before[i].submit + Minutes(120));
    moved |= lab.jobs[i].name != before[i].name;
  }
  EXPECT_TRUE(moved);
}

TEST(Chance, StatedLimitsAreAroundTheTrueLength) {
  trace::Workload lab = Failing();
  lab.jobs.clear();
  for (int i = 0; i < 500; ++i) {
    lab.jobs.push_back({.name = std::to_string(i), .duration = Minutes(60), .limit = Minutes(1)});
  }
  DrawJobs(lab, 1);
  int below = 0;
  for (const trace::Job& job : lab.jobs) {
    EXPECT_GE(*job.limit, Minutes(30));
    EXPECT_LE(*job.limit, Minutes(120));
    below += *job.limit < Minutes(60) ? 1 : 0;
  }
  EXPECT_NEAR(below, 500 / 3, 35);
}

}  // namespace
}  // namespace pondage::replay
