#include "doctor/rules.h"

#include <gtest/gtest.h>

namespace pondage::doctor {
namespace {

TEST(Doctor, TensorFlowAndItsKeras) {
  struct Row {
    std::string_view says;
    std::optional<submission::TensorFlowFacts> facts;
    Grade want;
    std::string_view remedy;
  };
  const Row rows[] = {
      {"Keras 2 inside", submission::TensorFlowFacts{"2.15.1", "2.15.0", ""}, Grade::kGood, ""},
      {"Keras 3 alone", submission::TensorFlowFacts{"2.17.0", "3.4.1", ""}, Grade::kNote,
       "tf_keras==2.17"},
      {"tf_keras of another minor", submission::TensorFlowFacts{"2.17.0", "3.4.1", "2.16.0"},
       Grade::kWarning, "tf_keras==2.17"},
      {"the pair that works", submission::TensorFlowFacts{"2.21.0", "3.12.0", "2.21.0"},
       Grade::kGood, ""},
      {"not there", submission::TensorFlowFacts{"", "", ""}, Grade::kWarning, "pip install"},
      {"cannot be asked", std::nullopt, Grade::kWarning, "activate"},
  };
  for (const Row& row : rows) {
    const Finding finding = JudgeTensorFlow(row.facts, "/venv", terminal::Screen());
    EXPECT_EQ(finding.grade, row.want) << row.says;
    EXPECT_NE(finding.remedy.find(row.remedy), std::string::npos)
        << row.says << ": " << finding.remedy;
  }
}

TEST(Doctor, Machines) {
  const terminal::Screen screen;
  EXPECT_EQ(JudgePorts("32768\t60999\n", screen).grade, Grade::kGood);
  EXPECT_EQ(JudgePorts("1024 65535\n", screen).grade, Grade::kWarning);
  EXPECT_EQ(JudgePorts("", screen).grade, Grade::kNote);
  const std::int64_t gib = std::int64_t{1} << 30;
  EXPECT_EQ(JudgeDisk({gib / 2}, {100 * gib}, "/", screen).grade, Grade::kBroken);
  EXPECT_EQ(JudgeDisk({5 * gib}, {100 * gib}, "/", screen).grade, Grade::kWarning);
  EXPECT_EQ(JudgeDisk({50 * gib}, {100 * gib}, "/", screen).grade, Grade::kGood);
  EXPECT_EQ(JudgeClock({10'000}, {11'000}, screen).grade, Grade::kGood);
  EXPECT_EQ(JudgeClock({30'000}, {10'000}, screen).grade, Grade::kWarning);
  EXPECT_EQ(JudgeClock({0}, {600'000}, screen).grade, Grade::kBroken);
  EXPECT_EQ(JudgeCertificate(base::Instant{0}, {1}, screen).grade, Grade::kBroken);
  EXPECT_EQ(JudgeCertificate(base::Instant{86'400'000}, {1}, screen).grade, Grade::kWarning);
}

TEST(Doctor, WhatTheServerSetAsideIsBroken) {
  const auto findings =
      JudgeStore({"tfjobs.kubeflow.org ml/a: odd"}, {"page 7"}, terminal::Screen());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].grade, Grade::kBroken);
  EXPECT_NE(findings[0].text.find("ml/a"), std::string::npos);
  EXPECT_EQ(findings[1].grade, Grade::kBroken);
  EXPECT_TRUE(JudgeStore({}, {}, terminal::Screen()).empty());
}

TEST(Doctor, ANameThatSaysAnotherTensorFlow) {
  EXPECT_TRUE(NamesAnotherTensorFlow("tensorflow/tensorflow:2.12.0-gpu", "2.21.0"));
  EXPECT_TRUE(NamesAnotherTensorFlow("hub:5000/tensorflow:2.9", "2.21.0"));
  EXPECT_FALSE(NamesAnotherTensorFlow("tensorflow/tensorflow:2.21.1-gpu", "2.21.0"));
  EXPECT_FALSE(NamesAnotherTensorFlow("tensorflow:latest", "2.21.0"));
  EXPECT_FALSE(NamesAnotherTensorFlow("tensorflow", "2.21.0"));
  EXPECT_FALSE(NamesAnotherTensorFlow("ours:2.12", "2.21.0")) << "our numbers may be others";
  EXPECT_FALSE(NamesAnotherTensorFlow("tensorflow:2.12", "")) << "nobody knows";
}

TEST(Doctor, WhatCannotStartIsToldWhileItIsTriedAgain) {
  view::JobView job;
  job.name = "x";
  job.state = view::JobState::kRestarting;
  EXPECT_EQ(JudgeFailure(job, terminal::Screen())[0].grade, Grade::kGood);
  job.cause_replica = "worker/0";
  job.cause_reason = "StartFailed";
  job.cause_message = "/data is gone";
  job.cause_code = 128;
  const auto findings = JudgeFailure(job, terminal::Screen());
  EXPECT_EQ(findings[0].grade, Grade::kBroken);
  EXPECT_NE(findings[0].text.find("worker/0 cannot start: /data is gone"), std::string::npos);
}

TEST(Doctor, FailuresAndLogs) {
  view::JobView job;
  job.name = "x";
  job.state = view::JobState::kFailed;
  job.exit_code = 137;
  job.cause_replica = "worker-0";
  job.cause_reason = "OOMKilled";
  const auto findings = JudgeFailure(job, terminal::Screen());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].grade, Grade::kBroken);
  EXPECT_NE(findings[0].remedy.find("--memory"), std::string::npos);
  EXPECT_TRUE(JudgeLog("all is well\n", terminal::Screen()).empty());
  const auto log = JudgeLog("x\nInvalid reduction dimension 0 for input with 0 dimensions\n",
                            terminal::Screen());
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log[0].remedy.find("--legacy-keras"), std::string::npos);
}

}  // namespace
}  // namespace pondage::doctor
