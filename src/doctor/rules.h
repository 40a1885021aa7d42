// Findings about a machine, a server and a failed job, each with what to do: what is concluded from
// what was read.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"
#include "submission/python.h"
#include "terminal/screen.h"
#include "view/job_view.h"

namespace pondage::doctor {

enum class Grade { kGood, kNote, kWarning, kBroken };

struct Finding {
  std::string name;  // "driver": frozen, for machines
  Grade grade = Grade::kGood;
  std::string text;
  std::string remedy;  // empty: nothing to do
};

// Whether a TensorFlow and its Keras can train on several workers by `fit`, and what to do else.
Finding JudgeTensorFlow(const std::optional<submission::TensorFlowFacts>& facts,
                        const std::string& python, const terminal::Screen& screen);
// Ports of jobs are taken from 20000-29999; `range` is the text of ip_local_port_range.
// Whether the name says another minor version of TensorFlow than the one it stands for:
// "tensorflow/tensorflow:2.12.0-gpu" for 2.21.0.
bool NamesAnotherTensorFlow(const std::string& image, const std::string& version);
Finding JudgePorts(const std::string& range, const terminal::Screen& screen);
Finding JudgeDisk(base::Bytes free, base::Bytes total, const std::string& path,
                  const terminal::Screen& screen);
Finding JudgeClock(base::Instant here, base::Instant server, const terminal::Screen& screen);
Finding JudgeCertificate(std::optional<base::Instant> expires, base::Instant now,
                         const terminal::Screen& screen);
// Stored objects that the server had to set aside, and pages of its store that are damaged: a
// sentence each.
std::vector<Finding> JudgeStore(const std::vector<std::string>& unreadable,
                                const std::vector<std::string>& damage,
                                const terminal::Screen& screen);
// What an exit code and a log's lines say about why a program ended.
std::vector<Finding> JudgeFailure(const view::JobView& job, const terminal::Screen& screen);
std::vector<Finding> JudgeLog(const std::string& log, const terminal::Screen& screen);

}  // namespace pondage::doctor
