#include "replay/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manifest/object.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"

namespace pondage::replay {

namespace json = boost::json;

namespace {

constexpr base::Millis kAssumedRun = base::SecondsLong(3'600);

trace::Machines MachinesOf(const fleet::Node& node) {
  trace::Machines machine{.name = node.name,
                          .gpus = static_cast<int>(node.gpus.size()),
                          .cpu = node.cpu,
                          .memory = node.memory,
                          .labels = node.labels};
  if (!node.gpus.empty()) {
    machine.gpu_type = node.gpus.front().type;
    machine.gpu_memory = node.gpus.front().memory;
  }
  return machine;
}

std::vector<trace::Member> GangOf(const job::Spec& spec) {
  std::vector<trace::Member> gang;
  for (const auto& [role, replica] : spec.roles) {
    const fleet::Demand& demand = replica.demand;
    trace::Member member{.count = replica.replicas,
                         .gpu = base::WholeGpus(demand.gpus),
                         .cpu = demand.cpu,
                         .memory = demand.memory,
                         .labels = demand.node_selector,
                         .role = role};
    if (!demand.gpu_type.empty()) member.gpu_types.push_back(demand.gpu_type);
    gang.push_back(std::move(member));
  }
  return gang;
}

// When the last program of it ended; none: it runs, or never ran.
std::optional<base::Instant> EndOf(const job::Status& status) {
  if (status.stage != job::Stage::kEnded) return std::nullopt;
  std::optional<base::Instant> end;
  for (const job::Replica& replica : status.replicas) {
    if (replica.exit && (!end || replica.exit->at > *end)) end = replica.exit->at;
  }
  return end ? end : status.completion_time;
}

class History {
 public:
  base::Result<trace::Workload> Read(std::string_view text) {
    TRY(const json::value list, manifest::ParseJson(text));
    const json::value* items = list.is_object() ? list.get_object().if_contains("items") : nullptr;
    if (items == nullptr || !items->is_array()) {
      return base::Fail(
          base::Kind::kInvalid, "", "",
          "it is no List: kubectl get nodes,queues,priorityclasses,tfjobs -A -o json");
    }
    // What jobs refer to comes first.
    for (const bool jobs : {false, true}) {
      for (const json::value& item : items->get_array()) TRY_DO(Take(item, jobs));
    }
    for (auto& [job, status] : jobs_) Finish(job, status);
    NameApart();
    trace::SortBySubmission(workload_.jobs);
    return std::move(workload_);
  }

 private:
  static std::string TextAt(const json::value& item, std::string_view key) {
    const json::value* at = item.is_object() ? item.get_object().if_contains(key) : nullptr;
    return at != nullptr && at->is_string() ? std::string(at->get_string()) : "";
  }

  base::Result<void> Take(const json::value& item, bool jobs) {
    const std::string kind = TextAt(item, "kind");
    if (kind.empty() || (kind == "TFJob") != jobs) return {};
    const json::value* metadata = item.get_object().if_contains("metadata");
    const std::string name = metadata == nullptr ? "" : TextAt(*metadata, "name");
    const auto taken = TakeKind(kind, name, json::serialize(item));
    if (taken) return {};
    return base::Fail(base::Kind::kInvalid, "", kind + " " + name, taken.error().message);
  }

  base::Result<void> TakeKind(const std::string& kind, const std::string& name,
                              const std::string& body) {
    if (kind == "Node") {
      TRY(const fleet::Node node, manifest::DecodeNode(body));
      workload_.fleet.push_back(MachinesOf(node));
    } else if (kind == "Queue") {
      TRY(queue::Spec queue, manifest::DecodeQueue(body));
      workload_.queues.push_back(std::move(queue));
    } else if (kind == "PriorityClass") {
      TRY(priorities_[name], manifest::DecodePriorityClass(body));
    } else if (kind == "TFJob") {
      TRY(manifest::TfJob tf_job,
          manifest::DecodeTfJob(body, [this](const std::string& priority_class) {
            const auto found = priorities_.find(priority_class);
            return found == priorities_.end() ? 0 : found->second;
          }));
      TakeJob(std::move(tf_job));
    }
    return {};
  }

  void TakeJob(manifest::TfJob tf_job) {
    if (tf_job.spec.suspend || tf_job.spec.managed_elsewhere) return;
    const job::Spec& spec = tf_job.spec;
    trace::Job job{.name = tf_job.identity.name,
                   .queue = spec.queue,
                   .user = spec.user,
                   .priority = spec.priority,
                   .submit = std::max(tf_job.status.queued, tf_job.identity.created),
                   .gang = GangOf(spec),
                   .started = tf_job.status.start_time};
    // The players add what makes whole seconds of it: DeadlineOf.
    if (spec.deadline) job.limit = *spec.deadline - base::SecondsLong(1);
    last_ = std::max({last_, job.submit, job.started.value_or(job.submit),
                      EndOf(tf_job.status).value_or(job.submit)});
    jobs_.emplace_back(std::move(job), std::move(tf_job.status));
  }

  void Finish(trace::Job& job, const job::Status& status) {
    if (!job.started && status.stage == job::Stage::kEnded) return;  // stopped before it started
    job.duration = job.started ? EndOf(status).value_or(last_) - *job.started : kAssumedRun;
    job.duration = std::max(job.duration, base::Millis{0});
    workload_.jobs.push_back(std::move(job));
  }

  // A name may stand in several namespaces, and be used again after a deletion.
  void NameApart() {
    std::set<std::string> names;
    for (trace::Job& job : workload_.jobs) {
      const std::string name = job.name;
      for (int i = 2; !names.insert(job.name).second; ++i) job.name = fmt::format("{}-{}", name, i);
    }
  }

  trace::Workload workload_;
  std::map<std::string, int> priorities_;
  std::vector<std::pair<trace::Job, job::Status>> jobs_;
  base::Instant last_{0};
};

}  // namespace

base::Result<trace::Workload> ReadHistory(std::string_view list_json) {
  TRY(trace::Workload workload, History().Read(list_json));
  TRY_DO(trace::Check(workload));
  return workload;
}

}  // namespace pondage::replay
