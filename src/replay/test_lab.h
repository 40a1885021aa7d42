// Words of this room's tests: a workload from YAML, and its run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "replay/player.h"
#include "report/report.h"
#include "trace/yaml.h"

namespace pondage::replay {

inline trace::Workload Lab(std::string_view yaml) {
  const trace::Files none = [](const std::string& path) -> base::Result<std::string> {
    return base::Fail(base::Kind::kNotFound, "", path, "there is no such file");
  };
  auto workload = trace::Yaml(yaml, none);
  if (!workload) ADD_FAILURE() << workload.error().object << ": " << workload.error().message;
  return workload.value_or(trace::Workload{});
}

inline report::Run Played(const trace::Workload& workload, bool server = false) {
  auto run = Play(workload, {.server = server});
  if (!run) ADD_FAILURE() << run.error().object << ": " << run.error().message;
  return run.value_or(report::Run{});
}

inline const report::Job& Named(const report::Run& run, std::string_view name) {
  return *std::ranges::find(run.jobs, name, &report::Job::name);
}

inline std::string Text(report::Run run) {
  return report::ToCsv(report::ReportOf("", "", "", {std::move(run)}));
}

}  // namespace pondage::replay
