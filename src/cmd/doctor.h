// Findings about this machine, the server and a failed job, each with what to do.
//
// The checks read this machine and ask the server; what they conclude from what they read is pure
// and tested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"
#include "cmd/job_view.h"
#include "cmd/python.h"
#include "cmd/terminal.h"

namespace pondage::cmd {

enum class Grade { kGood, kNote, kWarning, kBroken };

struct Finding {
  std::string name;  // "driver": frozen, for machines
  Grade grade = Grade::kGood;
  std::string text;
  std::string remedy;  // empty: nothing to do
};

// Whether a TensorFlow and its Keras can train on several workers by `fit`, and what to do else.
Finding JudgeTensorFlow(const std::optional<TensorFlowFacts>& facts, const std::string& python,
                        const Screen& screen);
// Ports of jobs are taken from 20000-29999; `range` is the text of ip_local_port_range.
Finding JudgePorts(const std::string& range, const Screen& screen);
Finding JudgeDisk(base::Bytes free, base::Bytes total, const std::string& path,
                  const Screen& screen);
Finding JudgeClock(base::Instant here, base::Instant server, const Screen& screen);
Finding JudgeCertificate(std::optional<base::Instant> expires, base::Instant now,
                         const Screen& screen);
// What an exit code and a log's lines say about why a program ended.
std::vector<Finding> JudgeFailure(const JobView& job, const Screen& screen);
std::vector<Finding> JudgeLog(const std::string& log, const Screen& screen);

}  // namespace pondage::cmd
