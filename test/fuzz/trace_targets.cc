#include <string>
#include <vector>

#include "base/assert.h"
#include "targets.h"
#include "trace/pollux.h"
#include "trace/read.h"
#include "trace/yaml.h"

namespace pondage::fuzz {

namespace {

constexpr std::string_view kSpeeds =
    R"json({"k80": {"('A', 1)": {"null": 0.5}}, "k80_unconsolidated": {"('A', 1)": {"null": 0.25}}})json";
constexpr std::string_view kPlacements =
    "placement,local_bsz,step_time,sync_time\n1,1,0.5,0.1\n1,64,1,0.1\n";
constexpr std::string_view kScalability = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n";
constexpr std::string_view kValidation =
    "progress,iteration,metric,grad_sqr,grad_var\n10,10,1,2,3\n20,20,1,2,3\n";

base::Result<std::vector<trace::Job>> ReadAs(char reader, std::string_view text) {
  switch (reader) {
    case 'o':
      return trace::Openb(text);
    case 'm':
      return trace::Muri(text, 1'000);
    case 'g':
      return trace::Gavel(text, kSpeeds);
    case 'j':  // Gavel's other file
      return trace::Gavel("job_id,job_type,scale_factor,total_steps,arrival_time\n0,A,1,10,0\n",
                          text);
    case 's':
      return trace::Slurm(text);
    case 'x':
      return trace::Pollux(text,
                           {{"bert",
                             {std::string(kPlacements),
                              std::string(kScalability),
                              {{16, std::string(kValidation)}, {64, std::string(kValidation)}}}}});
    default:
      return trace::Philly(text);
  }
}

}  // namespace

// The first letter says which reader. What is taken can be written as our own YAML and read back.
void TraceTable(std::string_view input) {
  if (input.empty()) return;
  auto jobs = ReadAs(input.front(), input.substr(1));
  if (!jobs) return PROMISE(!jobs.error().message.empty());
  trace::SortBySubmission(*jobs);
  trace::Workload workload{.jobs = *std::move(jobs)};
  if (!trace::Check(workload)) return;
  const auto none = [](const std::string& path) -> base::Result<std::string> {
    return base::Fail(base::Kind::kNotFound, "", path, "there is no such file");
  };
  const auto again = trace::Yaml(trace::ToYaml(workload), none);
  PROMISE(again.has_value() || !again.error().message.empty());
  if (again) PROMISE(again->jobs.size() == workload.jobs.size());
  PROMISE(trace::PeakDemand(workload.jobs).value >= 0);
}

void WorkloadYaml(std::string_view input) {
  const auto none = [](const std::string& path) -> base::Result<std::string> {
    return base::Fail(base::Kind::kNotFound, "", path, "there is no such file");
  };
  const auto workload = trace::Yaml(input, none);
  if (!workload) return PROMISE(!workload.error().message.empty());
  if (workload->jobs.size() > 10'000 || trace::GpusOf(workload->fleet) > 100'000) return;
  const std::string text = trace::ToYaml(*workload);
  const auto again = trace::Yaml(text, none);
  PROMISE(again && trace::ToYaml(*again) == text);
}

void GzipBytes(std::string_view input) {
  const auto plain = trace::Unzip(input, 1 << 20);
  if (!plain) return PROMISE(!plain.error().message.empty());
  PROMISE(plain->size() <= 1 << 20);
}

}  // namespace pondage::fuzz
