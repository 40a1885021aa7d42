#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <set>
#include <utility>

#include "job/spec.h"
#include "loop/loop.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"
#include "replay/host.h"
#include "replay/reason.h"
#include "replay/shelf.h"

namespace pondage::replay {

namespace json = boost::json;

namespace {

constexpr std::int64_t kMilli = 1'000;

json::object TemplateOf(const trace::Member& member, base::Millis grace) {
  json::object requests;
  if (member.gpu.value > 0) requests["nvidia.com/gpu"] = member.gpu.value / kMilli;
  if (member.cpu.value > 0) requests["cpu"] = fmt::format("{}m", member.cpu.value);
  if (member.memory.value > 0) requests["memory"] = std::to_string(member.memory.value);
  json::object container{{"name", "tensorflow"}, {"image", "model"}, {"command", {"train"}}};
  container["resources"] = {{"limits", std::move(requests)}};
  json::object spec{{"containers", json::array{std::move(container)}},
                    {"terminationGracePeriodSeconds", grace.value / kMilli}};
  json::object labels;
  for (const auto& [key, value] : member.labels) labels[key] = value;
  if (!labels.empty()) spec["nodeSelector"] = std::move(labels);
  return json::object{{"spec", std::move(spec)}};
}

std::string ClassOf(int priority) {
  return fmt::format("{}{}", priority < 0 ? "below-" : "above-", std::abs(std::int64_t{priority}));
}

json::object PriorityClassOf(int priority) {
  return {
      {"apiVersion", "scheduling.k8s.io/v1"},
      {"kind", "PriorityClass"},
      {"metadata", {{"name", ClassOf(priority)}, {"uid", manifest::UidFrom(ClassOf(priority))}}},
      {"value", priority}};
}

json::object ManifestOf(const Sheet& sheet) {
  json::object specs, annotations;
  for (const auto& [role, member] : sheet.roles) {
    if (!member.gpu_types.empty()) annotations["pondage.dev/gpu-type"] = member.gpu_types.front();
    specs[job::RoleName(role)] = {{"replicas", member.count},
                                  {"restartPolicy", "OnFailure"},
                                  {"template", TemplateOf(member, sheet.grace)}};
  }
  if (!sheet.job->user.empty()) annotations["pondage.dev/user"] = sheet.job->user;
  json::object policy{{"cleanPodPolicy", "All"}, {"ttlSecondsAfterFinished", 0}};
  json::object scheduling;
  if (!sheet.queue.empty()) scheduling["queue"] = sheet.queue;
  if (sheet.job->priority != 0) scheduling["priorityClass"] = ClassOf(sheet.job->priority);
  if (!scheduling.empty()) policy["schedulingPolicy"] = std::move(scheduling);
  if (const auto limit = DeadlineOf(*sheet.job)) {
    policy["activeDeadlineSeconds"] = limit->value / kMilli;
  }
  return {{"apiVersion", "kubeflow.org/v1"},
          {"kind", "TFJob"},
          {"metadata",
           {{"name", sheet.name},
            {"namespace", "default"},
            {"uid", manifest::UidFrom(fmt::format("job {}", sheet.number))},
            {"creationTimestamp", manifest::FormatTime(sheet.job->submit)},
            {"annotations", std::move(annotations)}}},
          {"spec", {{"runPolicy", std::move(policy)}, {"tfReplicaSpecs", std::move(specs)}}}};
}

port::Write CreateOf(const std::string& kind, const json::object& object) {
  const json::object& metadata = object.at("metadata").as_object();
  const auto* space = metadata.if_contains("namespace");
  manifest::Packed packed = manifest::Pack(object);
  return {.op = port::Write::Op::kCreate,
          .change = {.key = {kind, space == nullptr ? "" : std::string(space->as_string()),
                             std::string(metadata.at("name").as_string())},
                     .uid = std::string(metadata.at("uid").as_string()),
                     .body = std::move(packed.body),
                     .splice = packed.splice,
                     .facets = manifest::Facets(object, {})}};
}

json::object GpuAmount(base::MilliGpu amount) {
  return {{"nvidia.com/gpu", fmt::format("{}m", amount.value)}};
}

json::object QueueOf(const queue::Spec& queue, base::Instant now) {
  json::object spec{{"guarantee", GpuAmount(queue.guarantee)}};
  if (!queue.parent.empty()) spec["parent"] = queue.parent;
  if (queue.limit) spec["limit"] = GpuAmount(*queue.limit);
  if (queue.max_run) spec["maxRunSeconds"] = queue.max_run->value / kMilli;
  if (queue.closed) spec["closed"] = true;
  if (queue.held) spec["held"] = true;
  return {{"apiVersion", "pondage.dev/v1alpha1"},
          {"kind", "Queue"},
          {"metadata",
           {{"name", queue.name},
            {"uid", manifest::UidFrom("queue " + queue.name)},
            {"creationTimestamp", manifest::FormatTime(now)}}},
          {"spec", std::move(spec)}};
}

// Reads from the Pod what a program in virtual time needs.
class PodReader : public port::Launcher {
 public:
  base::Result<port::Launch> LaunchOf(const std::string& pod_body, int start) override {
    TRY(const json::value pod, manifest::ParseJson(pod_body));
    const json::value& metadata = pod.at("metadata");
    const auto text = [](const json::value& value) { return std::string(value.as_string()); };
    port::Launch launch{.uid = text(metadata.at("uid")), .start = start};
    launch.env[kJobVariable] = text(metadata.at("namespace")) + "/" +
                               text(metadata.at("labels").at("training.kubeflow.org/job-name"));
    launch.env[kNodeVariable] = text(pod.at("spec").at("nodeName"));
    return launch;
  }
  void Discard(const std::string&) override {}
};

class OnServer : public Host {
 public:
  OnServer(port::Runner& programs, port::Clock& clock)
      : clock_(clock),
        loop_({.event_ttl = base::SecondsLong(1)}, store_, programs, clock,
              std::make_shared<PodReader>()) {}

  void See(fleet::Node node) override { loop_.See(std::move(node), {}); }
  void Put(const queue::Spec& queue) override {
    Create("queues.pondage.dev", QueueOf(queue, clock_.Now()));
  }
  void Apply(const Sheet& sheet) override {
    if (const int priority = sheet.job->priority;
        priority != 0 && classes_.insert(priority).second) {
      Create("priorityclasses.scheduling.k8s.io", PriorityClassOf(priority));
    }
    json::object object = ManifestOf(sheet);
    manifest::Canonicalise(object);
    Create("tfjobs.kubeflow.org", object);
    if (++unseen_ % kWindow == 0) loop_.Turn();  // its queue of writes is bounded
  }
  void Tell(port::Reading reading) override { loop_.Tell(std::move(reading)); }

  base::Result<base::Instant> Turn() override {
    const base::Instant due = loop_.Turn();
    TRY_DO(refused_);
    return due;
  }

  std::optional<job::Reason> WhyWaits(const std::string& name) const override {
    return ReasonIn(loop_.pool(), name);
  }

 private:
  static constexpr std::size_t kWindow = 200;

  void Create(const std::string& kind, const json::object& object) {
    loop_.Submit(CreateOf(kind, object), [this](base::Result<port::Written> written) {
      if (!written && refused_) refused_ = std::unexpected(written.error());
    });
  }

  port::Clock& clock_;
  Shelf store_;
  loop::Loop loop_;
  base::Result<void> refused_;
  std::size_t unseen_ = 0;
  std::set<int> classes_;  // priorities that have a PriorityClass
};

}  // namespace

std::unique_ptr<Host> ServerHost(port::Runner& programs, port::Clock& clock) {
  return std::make_unique<OnServer>(programs, clock);
}

}  // namespace pondage::replay
