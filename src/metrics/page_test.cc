#include "metrics/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "metrics/names.h"

namespace pondage::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array<double, 2> kEnds = {1, 10};

TEST(Page, IsEmptyAtFirst) {
  EXPECT_EQ(Page().Text(), "");
}

TEST(Page, CountsAsKubeflowNamesIt) {
  Page page;
  const Labels labels{{"job_namespace", "ml"}, {"framework", "tensorflow"}};
  page.Add(kJobsCreated, labels);
  page.Add(kJobsCreated, labels, 2);
  page.Add(kJobsCreated, {{"job_namespace", "cv"}, {"framework", "tensorflow"}});
  const std::string text = page.Text();
  EXPECT_THAT(text, HasSubstr("# TYPE training_operator_jobs_created_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# HELP training_operator_jobs_created_total TFJobs that were "));
  EXPECT_THAT(text, HasSubstr("training_operator_jobs_created_total{framework=\"tensorflow\","
                              "job_namespace=\"ml\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("job_namespace=\"cv\"} 1\n"));
}

TEST(Page, AGaugeIsSetAndForgotten) {
  Page page;
  page.Set(kQueueWaiting, 3, {{"queue", "nlp"}});
  page.Set(kQueueWaiting, 5, {{"queue", "nlp"}});
  page.Set(kQueueWaiting, 1, {{"queue", "cv"}});
  EXPECT_THAT(page.Text(), HasSubstr("pondage_queue_waiting_jobs{queue=\"nlp\"} 5\n"));
  page.Forget(kQueueWaiting, {{"queue", "nlp"}});
  page.Forget(kQueueWaiting, {{"queue", "never seen"}});
  EXPECT_THAT(page.Text(), Not(HasSubstr("nlp")));
  EXPECT_THAT(page.Text(), Not(HasSubstr("never seen")));
  EXPECT_THAT(page.Text(), HasSubstr("{queue=\"cv\"} 1\n"));
}

TEST(Page, AHistogramHasItsBuckets) {
  constexpr Histogram kWait{"wait_seconds", "Wait", kEnds};
  Page page;
  for (const double value : {0.5, 5.0, 50.0}) page.Observe(kWait, value);
  const std::string text = page.Text();
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"10\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_count 3\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_sum 55.5\n"));
}

TEST(Page, WhatUsersNameCannotBreakTheFormat) {
  Page page;
  page.Set(kQueueWaiting, 1, {{"queue", "a\"b\\c\nd"}});
  EXPECT_THAT(page.Text(), HasSubstr(R"({queue="a\"b\\c\nd"} 1)"));
}

TEST(Page, ManyThreadsLoseNoCount) {
  Page page;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&page, t] {
      for (int i = 0; i < 1000; ++i) {
        page.Add(kJobsFailed, {{"job_namespace", std::to_string(t % 2)}});
        if (i % 100 == 0) {
          EXPECT_THAT(page.Text(), HasSubstr("jobs_failed_total"));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(page.Text(), HasSubstr("{job_namespace=\"0\"} 2000\n"));
  EXPECT_THAT(page.Text(), HasSubstr("{job_namespace=\"1\"} 2000\n"));
}

TEST(PageDeathTest, ANameThatPrometheusRefusesIsOurMistake) {
  Page page;
  EXPECT_DEATH(page.Add(Counter{"not a name", ""}), "required");
}

}  // namespace
}  // namespace pondage::metrics
