// Whether this machine could start what a TFJob asks for, said when the job is applied: its images,
// its Python, its accounts.
//
// Any thread. It looks at paths that submitters name, so it looks on threads of its own and waits
// only so long: a job on a file system that does not answer is taken, and its start, which looks
// again, says what hangs.
#pragma once

#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "agent/pod_launcher.h"
#include "base/result.h"
#include "run/errands.h"

namespace pondage::cmd {

class Admission {
 public:
  // `patience`: for one look; while another hangs, a tenth of it.
  explicit Admission(std::shared_ptr<const agent::PodLauncher> launcher,
                     std::chrono::milliseconds patience = std::chrono::milliseconds(500))
      : launcher_(std::move(launcher)), patience_(patience) {}

  // PND-E001, PND-E003, PND-R005, PND-R008: as LaunchOf() would refuse it.
  base::Result<void> Admit(const boost::json::object& tfjob);

  // What `look` says, if it says so in time; else it goes on alone and must own what it uses.
  base::Result<void> InTime(std::function<base::Result<void>()> look);

 private:
  const std::shared_ptr<const agent::PodLauncher> launcher_;
  const std::chrono::milliseconds patience_;
  const std::shared_ptr<std::atomic<int>> hanging_ = std::make_shared<std::atomic<int>>(0);
  run::Errands errands_;
};

}  // namespace pondage::cmd
