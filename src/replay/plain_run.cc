#include "replay/plain_run.h"

#include <utility>
#include <vector>

namespace pondage::replay {

namespace {

constexpr std::int64_t kMilli = 1'000;

base::Result<baseline::Job> JobOf(const trace::Job& job) {
  const base::MilliGpu gpu = trace::GpuOf(job);
  const auto cannot = [&](const char* why) {
    return base::Fail(base::Kind::kInvalid, "", "job " + job.name, why);
  };
  if (gpu.value == 0 || gpu.value % kMilli != 0) {
    return cannot("plain policies know whole GPUs alone");
  }
  for (const trace::Member& member : job.gang) {
    if (!member.gpu_types.empty() || !member.labels.empty()) {
      return cannot("plain policies know no types and no labels");
    }
  }
  return baseline::Job{job.submit.unix_ms, job.duration.value,
                       static_cast<int>(gpu.value / kMilli)};
}

}  // namespace

base::Result<report::Run> PlayPlain(const trace::Workload& workload, baseline::Policy policy) {
  if (workload.faults.mtbf || !workload.faults.outages.empty()) {
    return base::Fail(base::Kind::kInvalid, "", "faults",
                      "plain policies know no failing machines; play pondage and islands");
  }
  const int gpus = trace::LargestMachine(workload.fleet);
  for (const trace::Machines& machines : workload.fleet) {
    if (machines.gpus != gpus || gpus == 0) {
      return base::Fail(base::Kind::kInvalid, "", "fleet",
                        "plain policies want machines of one size");
    }
  }
  std::vector<baseline::Job> jobs;
  for (const trace::Job& job : workload.jobs) {
    TRY(const baseline::Job plain, JobOf(job));
    jobs.push_back(plain);
  }
  const auto stays =
      baseline::Play(jobs, static_cast<int>(trace::GpusOf(workload.fleet) / gpus), gpus, policy);
  report::Run run;
  run.costs = "none: plain policies interrupt for nothing";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const trace::Job& job = workload.jobs[i];
    report::Job record{.name = job.name,
                       .queue = job.queue,
                       .user = job.user,
                       .gpu = trace::GpuOf(job),
                       .submit = job.submit,
                       .duration = job.duration,
                       .finished = !stays[i].empty()};
    for (const baseline::Stay& stay : stays[i])
      record.stays.push_back({{stay.from_ms}, {stay.to_ms}});
    if (!stays[i].empty()) record.evictions = static_cast<int>(stays[i].size()) - 1;
    run.jobs.push_back(std::move(record));
  }
  return run;
}

}  // namespace pondage::replay
