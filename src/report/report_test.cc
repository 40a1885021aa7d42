#include "report/report.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

namespace pondage::report {
namespace {

namespace json = boost::json;

base::Instant At(std::int64_t seconds) {
  return {seconds * 1'000};
}

Job Ran(std::string name, std::string queue, int gpus, std::int64_t submit, std::int64_t start,
        std::int64_t end) {
  return {.name = std::move(name),
          .queue = std::move(queue),
          .gpu = base::WholeGpus(gpus),
          .submit = At(submit),
          .duration = base::SecondsLong(end - start),
          .stays = {{At(start), At(end)}}};
}

Run Small() {
  Run run{.name = "pool", .policy = "fifo", .machines = "1 x 8", .gpu = base::WholeGpus(8)};
  run.jobs = {Ran("a", "x", 8, 0, 0, 100), Ran("b", "x", 4, 10, 100, 200),
              Ran("c", "y", 4, 20, 100, 150), Ran("d", "y", 8, 100, 200, 300)};
  return run;
}

TEST(Figures, OfASmallRunByHand) {
  const Figures figures = FiguresOf(Small());
  EXPECT_EQ(figures.jobs, 4);
  EXPECT_DOUBLE_EQ(figures.jct_s.mean, (100 + 190 + 130 + 200) / 4.0);
  EXPECT_DOUBLE_EQ(figures.wait_s.mean, (0 + 90 + 80 + 100) / 4.0);
  EXPECT_DOUBLE_EQ(figures.jct_s.p50, 190);  // sorted[2]
  EXPECT_DOUBLE_EQ(figures.jct_s.p99, 200);  // sorted[3]
  EXPECT_DOUBLE_EQ(figures.makespan_s, 300);
  EXPECT_DOUBLE_EQ(figures.window_s, 100);  // first to last submission
  EXPECT_DOUBLE_EQ(figures.utilisation, 1);
  ASSERT_EQ(figures.queues.size(), 2u);
  EXPECT_EQ(figures.queues[1].queue, "y");
  EXPECT_DOUBLE_EQ(figures.queues[1].wait_s.mean, 90);
  EXPECT_NEAR(figures.queues[0].gpu_hours, 1'200 / 3'600.0, 1e-9);
  ASSERT_TRUE(figures.bounds);
  EXPECT_DOUBLE_EQ(figures.bounds->makespan_s, 275);  // 2,200 GPU-seconds on eight GPUs
}

TEST(Figures, UseIsOverTheWholeRunWhereAllCameAtOnce) {
  auto run = Small();
  for (Job& job : run.jobs) job.submit = At(0);
  const Figures figures = FiguresOf(run);
  EXPECT_DOUBLE_EQ(figures.window_s, 300);
  EXPECT_DOUBLE_EQ(figures.utilisation, 2'200 / 2'400.0);
}

TEST(Figures, EvictedAndUnfinishedJobs) {
  auto run = Small();
  Job& job = run.jobs[1];
  job.stays = {{At(100), At(150)}, {At(200), At(260)}};
  job.evictions = 1;
  job.lost_milli_gpu_ms = 4'000LL * 10'000;
  run.jobs[3].finished = false;
  run.jobs[3].stays.clear();
  const Figures figures = FiguresOf(run);
  EXPECT_EQ(figures.jobs, 3);
  EXPECT_EQ(figures.unfinished, 1);
  EXPECT_DOUBLE_EQ(figures.evictions_per_job, 0.25);
  EXPECT_DOUBLE_EQ(figures.lost_gpu_hours, 40 / 3'600.0);
  EXPECT_DOUBLE_EQ(figures.wait_s.most, 150);  // 250 - 100: the time away counts as waiting
  EXPECT_EQ(FiguresOf({}).jobs, 0);
}

TEST(Figures, WorstQueueAgainstItsIsland) {
  auto pool = Small(), islands = Small();
  islands.islands = true;
  EXPECT_FALSE(WorstAgainst(FiguresOf(pool), FiguresOf(islands)));
  pool.jobs[2].stays = {{At(140), At(190)}};
  pool.jobs[1].stays = {{At(110), At(210)}};
  const auto worst = WorstAgainst(FiguresOf(pool), FiguresOf(islands));
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->queue, "y");
  EXPECT_DOUBLE_EQ(worst->alone_s, 90);
  EXPECT_DOUBLE_EQ(worst->here_s, 110);
}

TEST(Figures, IntervalsAreStudents) {
  EXPECT_EQ(Over({}).mean, 0);
  EXPECT_EQ(Over({5}).half_width, 0);
  const Interval interval = Over({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(interval.half_width, 2.776 * std::sqrt(2.5 / 5), 1e-9);
  EXPECT_NEAR(Over(std::vector<double>(50, 7)).half_width, 0, 1e-12);
}

TEST(Figures, CourseAveragesEveryBucket) {
  const auto course = Course(Small(), 6);  // of 50 s
  ASSERT_EQ(course.size(), 6u);
  const double held[] = {8, 8, 8, 4, 8, 8}, waiting[] = {5.6, 8, 8, 8, 0, 0};
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(course[i].held, held[i], 1e-9) << i;
    EXPECT_NEAR(course[i].waiting, waiting[i], 1e-9) << i;
  }
}

TEST(Bounds, OfTwoJobsByHand) {
  // Eight GPUs: 800 and 80 GPU-seconds; the short one comes at 10 and interrupts: done at 20 and
  // 110.
  const Bounds bounds = BoundsOf({{At(0), base::SecondsLong(100), base::WholeGpus(8)},
                                  {At(10), base::SecondsLong(10), base::WholeGpus(8)}},
                                 base::WholeGpus(8));
  EXPECT_DOUBLE_EQ(bounds.mean_duration_s, 55);
  EXPECT_DOUBLE_EQ(bounds.mean_jct_s, 60);
  EXPECT_DOUBLE_EQ(bounds.makespan_s, 110);
  EXPECT_DOUBLE_EQ(bounds.utilisation, 1);
}

TEST(Report, JsonStatesWhatAReportMust) {
  auto islands = Small();
  islands.name = "islands";
  islands.islands = true;
  const Report report = ReportOf("t", "s", "c", {Small(), islands});
  const json::value root = json::parse(ToJson(report));
  EXPECT_EQ(root.at("runs").as_array().size(), 2u);
  const json::value& run = root.at("runs").at(0);
  for (const char* key : {"machines", "policy", "seed", "costs", "worst_against_island"}) {
    EXPECT_TRUE(run.as_object().contains(key)) << key;
  }
  for (const char* key : {"jct_s", "makespan_s", "utilisation", "window_s", "evictions_per_job",
                          "moves_per_job", "lost_gpu_hours", "bounds"}) {
    EXPECT_TRUE(run.at("figures").as_object().contains(key)) << key;
  }
  EXPECT_TRUE(run.at("worst_against_island").is_null());
  EXPECT_FALSE(root.at("runs").at(1).as_object().contains("worst_against_island"));
}

TEST(Report, CsvHasOneLineAJobAndQuotesWhatItMust) {
  auto run = Small();
  run.jobs.resize(2);
  run.jobs[0].name = "a,\"1\"";
  run.jobs[1].stays.clear();
  run.jobs[1].finished = false;
  EXPECT_EQ(ToCsv(ReportOf("t", "s", "c", {run})),
            "run,policy,job,queue,user,gpus,submit_s,start_s,end_s,wait_s,cut,evictions,moves,"
            "failures,lost_gpu_hours\n"
            "pool,fifo,\"a,\"\"1\"\"\",x,,8,0.000,0.000,100.000,0.000,0,0,0,0,0.000000\n"
            "pool,fifo,b,x,,4,10.000,,,,0,0,0,0,0.000000\n");
}

TEST(Report, SeveralSeedsAreMeansWithTheirIntervals) {
  Report report = ReportOf("t", "s", "c", {Small()});
  Figures other = report.results[0].figures;
  other.wait_s.mean += 20;
  report.results[0].seeds = {report.results[0].figures, other};
  const json::value seeds = json::parse(ToJson(report)).at("runs").at(0).at("seeds");
  EXPECT_EQ(seeds.at("count"), 2);
  const json::value& wait = seeds.at("figures").at("wait_s.mean");
  EXPECT_DOUBLE_EQ(wait.at("mean").as_double(), 67.5 + 10);
  EXPECT_NEAR(wait.at("half_width_95").as_double(), 12.706 * 10, 1e-6);
  EXPECT_EQ(seeds.at("figures").as_object().size(), NamedFigures().size());
  const std::string csv = ToCsv(report);
  EXPECT_TRUE(csv.starts_with("run,policy,first_seed,seeds,figure,mean,half_width_95\n")) << csv;
  EXPECT_TRUE(csv.contains("\npool,fifo,0,2,wait_s.mean,77.500000,127.060000\n")) << csv;
}

TEST(Report, PageHoldsItsDataAndNoWayOut) {
  auto run = Small();
  run.jobs[0].name = "</script><script>alert(1)</script><!--";
  const std::string page = ToHtml(ReportOf("t", "s", "c", {run}));
  EXPECT_EQ(page, ToHtml(ReportOf("t", "s", "c", {run})));
  EXPECT_FALSE(page.contains("<script>alert"));
  EXPECT_FALSE(page.contains("src="));
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = page.find(open) + open.size();
  const json::value data = json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(data.at("runs").at(0).at("gantt").at(0).at("name").as_string(), run.jobs[0].name);
}

}  // namespace
}  // namespace pondage::report
