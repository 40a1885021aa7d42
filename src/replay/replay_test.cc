#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "replay/compare.h"
#include "replay/player.h"
#include "replay/story.h"
#include "replay/test_lab.h"

namespace pondage::replay {
namespace {

constexpr std::string_view kTwoServers = R"(
fleet: [{servers: 2, gpus: 8}]
queues: [{name: vision, guarantee: 8}, {name: nlp, guarantee: 8}]
jobs:
  - {name: big, queue: vision, gpus: 16, lasts: 3h, submitted: 30m}
  - {name: sweep, queue: nlp, gpus: 2, lasts: 50m, times: 12, every: 9m}
  - {name: odd, queue: vision, gpus: 12, lasts: 20m, submitted: 10h}
)";

TEST(Play, EveryJobRunsAsLongAsItsWorkTakes) {
  const report::Run run = Played(Lab(kTwoServers));
  ASSERT_EQ(run.jobs.size(), 14u);
  for (const report::Job& job : run.jobs) {
    ASSERT_TRUE(job.finished) << job.name;
    ASSERT_EQ(job.stays.size(), 1u) << job.name;
    EXPECT_EQ(job.stays[0].to - job.stays[0].from, *job.duration) << job.name;
    EXPECT_GE(job.stays[0].from, job.submit) << job.name;
  }
  const report::Job& odd = Named(run, "odd");  // eight and four GPUs: a worker and a chief
  EXPECT_EQ(odd.stays[0].from, odd.submit);
}

TEST(Play, IslandsAreAloneOnTheirGuarantee) {
  const auto run = PlayIslands(Lab(R"(
fleet: [{servers: 2, gpus: 8}]
queues: [{name: a, guarantee: 8}, {name: b, guarantee: 8}]
jobs:
  - {name: one, queue: a, gpus: 8, lasts: 1h}
  - {name: two, queue: a, gpus: 8, lasts: 1h}
  - {name: three, queue: b, gpus: 1, lasts: 1h}
)"),
                               {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->islands);
  EXPECT_EQ(run->gpu, base::WholeGpus(16));
  const report::Job& two = Named(*run, "two");  // b's machine is idle and out of reach
  EXPECT_EQ(two.stays[0].from - two.submit, base::SecondsLong(3'600));
}

TEST(Play, GpuTypesHaveTheirSpeed) {
  const report::Run run = Played(Lab(R"(
fleet: [{name: fast, servers: 1, gpus: 8, type: A100}, {name: slow, servers: 1, gpus: 8, type: K80}]
jobs:
  - {name: a, gpus: 8, type: A100, steps: 1000, speeds: {A100: 10, K80: 1}}
  - {name: k, gpus: 8, type: K80, steps: 1000, speeds: {A100: 10, K80: 1}}
)"));
  EXPECT_EQ(Named(run, "a").stays[0].to - Named(run, "a").stays[0].from, base::SecondsLong(100));
  EXPECT_EQ(Named(run, "k").stays[0].to - Named(run, "k").stays[0].from, base::SecondsLong(1'000));
}

TEST(Play, PartsOfAGpuShareIt) {
  const report::Run run = Played(Lab(R"(
fleet: [{servers: 1, gpus: 1}]
jobs:
  - {name: half, gpus: 0.5, lasts: 1h}
  - {name: other, gpus: 0.4, lasts: 1h}
  - {name: more, gpus: 0.2, lasts: 1h}
  - {name: whole, gpus: 1, lasts: 1h, submitted: 1m}
)"));
  const base::Instant first = run.jobs.front().submit;
  EXPECT_EQ(Named(run, "half").stays[0].from, first);
  EXPECT_EQ(Named(run, "other").stays[0].from, first);
  EXPECT_EQ(Named(run, "more").stays[0].from, first + base::SecondsLong(3'600));
  EXPECT_EQ(Named(run, "whole").stays[0].from, first + base::SecondsLong(7'200));
  EXPECT_NEAR(report::FiguresOf(run).queues[0].gpu_hours, 0.5 + 0.4 + 0.2 + 1, 1e-9);
}

TEST(Play, SeveralTypesDoWhereEachHasASpeed) {
  const report::Run run = Played(Lab(R"(
fleet: [{name: new, servers: 1, gpus: 4, type: A100}, {name: old, servers: 1, gpus: 4, type: K80},
        {name: odd, servers: 1, gpus: 4, type: T4}]
jobs:
  - {name: either, gpus: 4, type: [A100, T4], lasts: 1h, times: 3}
  - {name: not-there, gpus: 4, steps: 3600, speeds: {A100: 2, K80: 1, T4: 0}, submitted: 1m}
)"));
  const base::Instant first = run.jobs.front().submit;
  EXPECT_EQ(Named(run, "either-2").stays[0].from, first);
  EXPECT_EQ(Named(run, "either-3").stays[0].from, first + base::SecondsLong(3'600));
  const report::Job& job = Named(run, "not-there");  // never on the T4s: it is at once on the K80s
  EXPECT_EQ(job.stays[0].machines, std::vector<std::string>{"old"});
  EXPECT_EQ(job.stays[0].to - job.stays[0].from, base::SecondsLong(3'600));
}

TEST(Play, SaysWhatATfJobCannotSay) {
  const auto refused = [](std::string_view jobs, bool server = false) {
    const auto run =
        Play(Lab("fleet: [{servers: 2, gpus: 8, type: T4}, {servers: 1, gpus: 8, type: A100}, "
                 "{servers: 1, gpus: 8, type: K80}]\njobs:\n  - " +
                 std::string(jobs)),
             {.server = server});
    return run ? "played" : run.error().object + ": " + run.error().message;
  };
  const std::string whole =
      "job a: a TFJob asks for whole GPUs of one type: play it without --whole";
  EXPECT_EQ(refused("{name: a, gpus: 0.5, lasts: 1s}", true), whole);
  EXPECT_EQ(refused("{name: a, type: [T4, A100], lasts: 1s}", true), whole);
  EXPECT_EQ(refused("{name: a, gpus: 0.5, lasts: 1s}"), "played");
  EXPECT_EQ(refused("{name: a, steps: 1, speeds: {V100: 1}}"),
            "job a: no machine is of a type that it can run on");
  EXPECT_EQ(refused("{name: a, members: [{workers: 2}, {workers: 3}], lasts: 1s}"),
            "job a: its members are of more kinds than one chief and equal workers");
}

TEST(Play, PlainPoliciesAreBuiltIn) {
  trace::Workload lab = Lab(kTwoServers);
  for (const char* name :
       {"fifo", "fit", "fewest", "sjf", "srtf", "srsf", "las", "bestfit", "fgd"}) {
    lab.policy.name = name;
    const report::Run run = Played(lab);
    EXPECT_EQ(run.policy, name);
    EXPECT_EQ(report::FiguresOf(run).unfinished, 0) << name;
  }
  lab.policy.name = "magic";
  EXPECT_EQ(Play(lab, {}).error().message,
            "it is not known; known: pondage fifo fit fewest sjf srtf srsf las bestfit fgd");
}

TEST(Play, PlacingPoliciesKnowPartsAndTypes) {
  trace::Workload lab = Lab(R"(
fleet: [{name: new, servers: 1, gpus: 4, type: A100, cpus: 8}, {name: old, servers: 2, gpus: 2, type: K80, cpus: 8}]
jobs:
  - {name: part, gpus: 0.5, cpus: 2, lasts: 1h}
  - {name: gang, workers: 2, gpus: 2, lasts: 1h, submitted: 1m}
  - {name: wants, gpus: 4, type: A100, lasts: 1h, submitted: 2m}
  - {name: cores, gpus: 0, cpus: 8, lasts: 1h, submitted: 3m}
)");
  for (const char* name : {"bestfit", "fgd"}) {
    lab.policy.name = name;
    const report::Run run = Played(lab);
    EXPECT_EQ(report::FiguresOf(run).unfinished, 0) << name;
    EXPECT_EQ(Named(run, "wants").stays[0].machines, std::vector<std::string>{"new"}) << name;
    for (const report::Job& job : run.jobs) {
      EXPECT_EQ(job.stays[0].to - job.stays[0].from, base::SecondsLong(3'600)) << name << job.name;
    }
  }
  // Best fit puts the part on a small machine, so the four GPUs stay together.
  lab.policy.name = "bestfit";
  const report::Run run = Played(lab);
  EXPECT_TRUE(Named(run, "part").stays[0].machines.front().starts_with("old"));
}

TEST(Story, IsToldFromIslandsToTheFasterPool) {
  trace::Workload lab = Lab(R"(
fleet: [{servers: 2, gpus: 8}]
queues: [{name: a, guarantee: 8}, {name: b, guarantee: 8}]
jobs:
  - {name: a, queue: a, gpus: 8, lasts: 1h, times: 6, every: 30m}
  - {name: b, queue: b, gpus: 1, lasts: 1h, times: 2, every: 2h}
policy: {baselines: [islands, srtf], also-faster: 2}
)");
  std::vector<std::string> told;
  const auto runs =
      PlayStory(lab, {}, 1, [&](const std::string& name, std::size_t number, std::size_t of) {
        told.push_back(std::to_string(number) + "/" + std::to_string(of) + " " + name);
      });
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(told,
            (std::vector<std::string>{"1/4 islands", "2/4 srtf", "3/4 pool", "4/4 pool, 2x jobs"}));
  EXPECT_TRUE(runs->front().run.islands);
  EXPECT_EQ(runs->back().run.faster_milli, 2'000);
  EXPECT_LT((*runs)[2].figures.wait_s.mean, runs->front().figures.wait_s.mean);
  EXPECT_EQ(runs->front().run.machines, "1 x 8 | 1 x 8");
  EXPECT_TRUE(runs->front().seeds.empty());
}

TEST(Story, OfSeveralSeedsHasTheirFiguresAndTheRecordsOfTheFirst) {
  trace::Workload lab = Lab(kTwoServers);
  lab.faults = {.mtbf = base::SecondsLong(3'600), .repair = base::SecondsLong(600)};
  const auto ignore = [](const std::string&, std::size_t, std::size_t) {};
  const auto one = PlayStory(lab, {.seed = 5}, 1, ignore);
  const auto three = PlayStory(lab, {.seed = 5}, 3, ignore);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(Text(three->front().run), Text(one->front().run));
  ASSERT_EQ(three->front().seeds.size(), 3u);
  EXPECT_EQ(three->front().seeds[0].wait_s, one->front().figures.wait_s);
  const auto last = PlayStory(lab, {.seed = 7}, 1, ignore);
  EXPECT_EQ(three->front().seeds[2].wait_s, last->front().figures.wait_s);
  EXPECT_NE(three->front().seeds[2].wait_s, one->front().figures.wait_s);
  EXPECT_GT(report::OverSeeds(three->front().seeds, "wait_s.mean").half_width, 0);
}

TEST(Compare, SaysWhereTwoWaysPartAndWhyTheOtherWaits) {
  const trace::Workload lab = Lab(R"(
fleet: [{servers: 2, gpus: 8}]
jobs:
  - {name: runs, gpus: 12, lasts: 1h}
  - {name: large, gpus: 16, lasts: 1h, submitted: 1m}
  - {name: small, gpus: 2, lasts: 10m, submitted: 2m}
)");
  const auto ignore = [](const std::string&, std::size_t, std::size_t) {};
  const auto compared = Compare(lab, "fit", "pondage", {}, 5, ignore);
  ASSERT_TRUE(compared) << compared.error().message;
  ASSERT_EQ(compared->partings.size(), 1u);
  const report::Parting& parting = compared->partings.front();
  EXPECT_EQ(parting.job, "small");
  EXPECT_EQ(parting.at, lab.jobs[2].submit);
  EXPECT_EQ(parting.a.what, report::Deed::What::kStarts);
  EXPECT_EQ(parting.b.what, report::Deed::What::kWaits);
  ASSERT_TRUE(compared->why[0] && compared->why[0]->reason);
  EXPECT_TRUE(compared->why[0]->is_b);
  EXPECT_EQ(compared->why[0]->reason->constraint, "order");
  EXPECT_EQ(compared->why[0]->crowd.first, "large");
  // The same by the whole server, and the other way round.
  const auto back = Compare(lab, "pondage", "fit", {.server = true}, 5, ignore);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->partings.front().b, parting.a);
  EXPECT_EQ(back->why[0]->reason, compared->why[0]->reason);
  EXPECT_TRUE(Compare(lab, "pondage", "pondage", {}, 5, ignore)->partings.empty());
  EXPECT_FALSE(Compare(lab, "pondage", "magic", {}, 5, ignore));
}

trace::Workload RandomLab(std::uint64_t seed) {
  base::Random random(seed);
  std::string yaml =
      "fleet: [{servers: 3, gpus: 4}]\nqueues: [{name: a, guarantee: 4}, {name: b, "
      "limit: 8, longest-run: 15m}]\njobs:\n";
  for (int i = 0; i < 60; ++i) {
    yaml += "  - {name: j" + std::to_string(i) + ", user: u" + std::to_string(random.Below(3)) +
            ", queue: " + (random.OneIn(2) ? "a" : "b") +
            ", gpus: " + std::to_string(1 + random.Below(8)) +
            ", lasts: " + std::to_string(random.Between(1, 500)) +
            "s, submitted: " + std::to_string(random.Between(0, 2'000)) + "s";
    if (random.OneIn(4)) yaml += ", priority: " + std::to_string(random.Between(-2, 2));
    if (random.OneIn(2)) yaml += ", limit: " + std::to_string(random.Between(500, 900)) + "s";
    yaml += "}\n";
  }
  if (random.OneIn(2)) {
    yaml +=
        "faults: {mtbf: " + std::to_string(random.Between(600, 20'000)) +
        "s, repair: 3m, limits: 0.8..3}\npolicy: {restart: 7s, checkpoint-every: 20s, saving: " +
        std::to_string(random.Between(0, 40)) + "s}\n";
  }
  return Lab(yaml);
}

// The law of this room: the pool alone and the whole server decide alike, and each twice the same.
TEST(Hosts, DecideAlikeToTheByte) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const trace::Workload lab = RandomLab(seed);
    const std::string on_pool = Text(Played(lab));
    EXPECT_EQ(on_pool, Text(Played(lab))) << "seed " << seed;
    EXPECT_EQ(on_pool, Text(Played(lab, true))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pondage::replay
