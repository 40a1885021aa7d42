#include "report/partings.h"

#include <gtest/gtest.h>

namespace pondage::report {
namespace {

base::Instant At(std::int64_t seconds) {
  return {seconds * 1'000};
}
Stay Held(std::int64_t from, std::int64_t to, std::vector<std::string> machines = {}) {
  return {At(from), At(to), std::move(machines)};
}
Run Of(std::vector<Job> jobs) {
  return {.gpu = base::WholeGpus(8), .jobs = std::move(jobs)};
}
Job Ran(std::string name, int gpus, std::vector<Stay> stays) {
  return {.name = std::move(name), .gpu = base::WholeGpus(gpus), .stays = std::move(stays)};
}

TEST(Partings, AreTheFirstDifferenceOfEachJobByTime) {
  const auto a = Of({Ran("same", 1, {Held(0, 10)}), Ran("late", 4, {Held(50, 90, {"m2"})}),
                     Ran("first", 8, {Held(20, 60, {"m1"})})});
  const auto b = Of({Ran("same", 1, {Held(0, 10)}), Ran("late", 4, {Held(30, 70, {"m1"})}),
                     Ran("first", 8, {Held(70, 110)})});
  const std::vector<Parting> partings = Partings(a, b);
  ASSERT_EQ(partings.size(), 2u);
  EXPECT_EQ(partings[0].job, "first");
  EXPECT_EQ(partings[0].at, At(20));
  EXPECT_EQ(partings[0].a, (Deed{Deed::What::kStarts, base::kNever, {"m1"}}));
  EXPECT_EQ(partings[0].b, (Deed{Deed::What::kWaits, At(70), {}}));
  EXPECT_EQ(partings[1].a, (Deed{Deed::What::kWaits, At(50), {"m2"}}));
  EXPECT_EQ(partings[1].b, (Deed{Deed::What::kStarts, base::kNever, {"m1"}}));
}

TEST(Partings, OfEvictionsEndsAndJobsThatNeverRun) {
  Job never = Ran("never", 8, {});
  never.finished = false;
  auto a = Of({Ran("evicted", 1, {Held(0, 10), Held(20, 30)}), Ran("slow", 1, {Held(0, 40)}), never,
               Ran("only here", 1, {Held(0, 1)})});
  const auto b = Of({Ran("evicted", 1, {Held(0, 20)}), Ran("slow", 1, {Held(0, 50)}),
                     Ran("never", 8, {Held(60, 70)})});
  const std::vector<Parting> partings = Partings(a, b);
  ASSERT_EQ(partings.size(), 3u);
  EXPECT_EQ(partings[0].job, "evicted");
  EXPECT_EQ(partings[0].a.what, Deed::What::kLeaves);
  EXPECT_EQ(partings[0].b, (Deed{Deed::What::kRuns, At(20), {}}));
  EXPECT_EQ(partings[1].job, "slow");
  EXPECT_EQ(partings[1].a.what, Deed::What::kEnds);
  EXPECT_EQ(partings[2].a, Deed{});  // waits for ever
  EXPECT_EQ(partings[2].b.what, Deed::What::kStarts);
}

TEST(Partings, MachinesCountByTheirNumberAlone) {
  const auto a = Of({Ran("x", 2, {Held(0, 10, {"m1"})}), Ran("y", 2, {Held(0, 10, {"m1"})})});
  const auto b = Of({Ran("x", 2, {Held(0, 10, {"m2"})}), Ran("y", 2, {Held(0, 10, {"m1", "m2"})})});
  const std::vector<Parting> partings = Partings(a, b);
  ASSERT_EQ(partings.size(), 1u);
  EXPECT_EQ(partings[0].job, "y");
}

TEST(Partings, CrowdsAreCountedFromTheRecords) {
  auto run = Of({Ran("runs", 3, {Held(0, 10)}), Ran("waits", 6, {Held(10, 20)}),
                 Ran("asks", 2, {Held(20, 30)}), Ran("behind", 1, {Held(20, 30)})});
  run.jobs.back().submit = At(3);
  const Crowd crowd = CrowdAt(run, At(5), "asks");
  EXPECT_DOUBLE_EQ(crowd.free_gpus, 5);
  EXPECT_EQ(crowd.ahead, 1);
  EXPECT_EQ(crowd.first, "waits");
  EXPECT_DOUBLE_EQ(crowd.first_gpus, 6);
}

}  // namespace
}  // namespace pondage::report
