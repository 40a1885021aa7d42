#include "loop/numbers.h"

#include <map>
#include <utility>

#include "metrics/names.h"

namespace pondage::loop {
namespace {

metrics::Labels Of(const std::string& space) {
  return {{"job_namespace", space}, {"framework", "tensorflow"}};
}

const char* StageName(job::Stage stage) {
  switch (stage) {
    case job::Stage::kWaiting:
      return "waiting";
    case job::Stage::kBound:
      return "bound";
    case job::Stage::kDraining:
      return "draining";
    case job::Stage::kEnded:
      return "ended";
  }
  std::unreachable();
}

}  // namespace

void Numbers::CountCreated(const std::string& space) {
  page_.Add(metrics::kJobsCreated, Of(space));
}
void Numbers::CountDeleted(const std::string& space) {
  page_.Add(metrics::kJobsDeleted, Of(space));
}

void Numbers::Count(const pool::Pool& pool, const std::vector<pool::Decision>& decisions) {
  for (const pool::Decision& decision : decisions) {
    if (const auto* charge = std::get_if<pool::CloseCharge>(&decision)) {
      page_.Add(metrics::kGpuSeconds, {{"queue", charge->entry.queue}},
                static_cast<double>(charge->entry.MilliGpuMillis()) / 1e6);
    }
    const auto* emit = std::get_if<pool::Emit>(&decision);
    const pool::JobView* job = emit == nullptr ? nullptr : pool.Find(emit->job);
    if (job == nullptr) continue;
    const metrics::Labels labels = Of(job->identity.space);
    if (emit->note.reason == "TFJobSucceeded") page_.Add(metrics::kJobsSuccessful, labels);
    if (emit->note.reason == "TFJobFailed") page_.Add(metrics::kJobsFailed, labels);
    if (emit->note.reason == "TFJobRestarting") page_.Add(metrics::kJobsRestarted, labels);
  }
}

void Numbers::Show(const pool::Pool& pool, std::size_t unreadable) {
  page_.Set(metrics::kUnreadable, static_cast<double>(unreadable));
  int free = 0, granted = 0, unhealthy = 0;
  for (const auto& [name, place] : pool.fleet().places()) {
    for (std::size_t gpu = 0; gpu < place.node.gpus.size(); ++gpu) {
      if (place.holder[gpu])
        ++granted;
      else if (place.node.gpus[gpu].healthy)
        ++free;
      else
        ++unhealthy;
    }
  }
  page_.Set(metrics::kGpus, free, {{"state", "free"}});
  page_.Set(metrics::kGpus, granted, {{"state", "granted"}});
  page_.Set(metrics::kGpus, unhealthy, {{"state", "unhealthy"}});
  std::map<std::string, int> stages{{"waiting", 0}, {"bound", 0}, {"draining", 0}};
  std::map<std::string, int> waiting;
  for (const auto& [id, job] : pool.jobs()) {
    ++stages[StageName(job.status.stage)];
    if (job.status.stage == job::Stage::kWaiting && !job.spec.suspend) ++waiting[job.spec.queue];
  }
  for (const auto& [stage, count] : stages) page_.Set(metrics::kJobs, count, {{"state", stage}});
  for (const queue::Spec* spec : pool.queues().All()) {
    const auto set = [&](const char* what, base::MilliGpu amount) {
      page_.Set(metrics::kQueueGpus, static_cast<double>(amount.value) / 1000,
                {{"queue", spec->name}, {"what", what}});
    };
    set("used", pool.queues().Used(spec->name));
    set("borrowed", pool.queues().Borrowed(spec->name));
    set("guarantee", spec->guarantee);
    if (spec->limit) set("limit", *spec->limit);
    page_.Set(metrics::kQueueWaiting, waiting[spec->name], {{"queue", spec->name}});
  }
}

}  // namespace pondage::loop
