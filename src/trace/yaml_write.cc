#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "trace/yaml.h"

namespace pondage::trace {

namespace {

constexpr std::int64_t kMilli = 1'000;
constexpr std::int64_t kMicro = 1'000'000;

std::string Thousandths(std::int64_t value) {
  if (value % kMilli == 0) return fmt::format("{}", value / kMilli);
  return fmt::format("{}.{:03}", value / kMilli, value % kMilli);
}
std::string Ms(base::Millis length) {
  return fmt::format("{}ms", length.value);
}

class Writer {
 public:
  std::string Write(const Workload& workload) {
    out_ << YAML::BeginMap;
    Fleet(workload.fleet);
    Queues(workload.queues);
    out_ << YAML::Key << "start" << YAML::Value << "1970-01-01";
    out_ << YAML::Key << "jobs" << YAML::Value << YAML::BeginSeq;
    for (const Job& job : workload.jobs) One(job);
    out_ << YAML::EndSeq;
    FaultsAndPolicy(workload);
    out_ << YAML::EndMap;
    return std::string(out_.c_str(), out_.size()) + "\n";
  }

 private:
  // Texts are quoted: "true" and "1e3" come back as texts, whatever they look like.
  void Name(const char* key, const std::string& value) {
    out_ << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << value;
  }
  void Text(const char* key, const std::string& value) {
    if (!value.empty()) Name(key, value);
  }
  void Plain(const char* key, const std::string& value) {
    out_ << YAML::Key << key << YAML::Value << value;
  }
  void Labels(const std::map<std::string, std::string>& labels) {
    if (labels.empty()) return;
    out_ << YAML::Key << "labels" << YAML::Value << YAML::Flow << YAML::BeginMap;
    for (const auto& [name, value] : labels) {
      out_ << YAML::Key << YAML::DoubleQuoted << name << YAML::Value << YAML::DoubleQuoted << value;
    }
    out_ << YAML::EndMap;
  }
  void Sizes(base::MilliCpu cpu, base::Bytes memory) {
    if (cpu.value > 0) Plain("cpus", Thousandths(cpu.value));
    if (memory.value > 0) Plain("memory", std::to_string(memory.value));
  }

  void Fleet(const std::vector<Machines>& fleet) {
    out_ << YAML::Key << "fleet" << YAML::Value << YAML::BeginSeq;
    for (const Machines& machines : fleet) {
      out_ << YAML::Flow << YAML::BeginMap;
      Name("name", machines.name);
      Plain("servers", std::to_string(machines.count));
      Plain("gpus", std::to_string(machines.gpus));
      Text("type", machines.gpu_type);
      if (machines.gpu_memory.value > 0) {
        Plain("gpu-memory", std::to_string(machines.gpu_memory.value));
      }
      Sizes(machines.cpu, machines.memory);
      Labels(machines.labels);
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }

  void Queues(const std::vector<queue::Spec>& queues) {
    if (queues.empty()) return;
    out_ << YAML::Key << "queues" << YAML::Value << YAML::BeginSeq;
    for (const queue::Spec& queue : queues) {
      out_ << YAML::Flow << YAML::BeginMap;
      Name("name", queue.name);
      Text("parent", queue.parent);
      if (queue.guarantee.value > 0) Plain("guarantee", Thousandths(queue.guarantee.value));
      if (queue.limit) Plain("limit", Thousandths(queue.limit->value));
      if (queue.max_run) Plain("longest-run", Ms(*queue.max_run));
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }

  void Gang(const Member& member) {
    out_ << YAML::Flow << YAML::BeginMap;
    Plain("workers", std::to_string(member.count));
    Plain("gpus", Thousandths(member.gpu.value));
    if (!member.gpu_types.empty()) {
      out_ << YAML::Key << "type" << YAML::Value << YAML::Flow << YAML::BeginSeq;
      for (const std::string& type : member.gpu_types) out_ << YAML::DoubleQuoted << type;
      out_ << YAML::EndSeq;
    }
    if (member.role) Plain("role", std::string(NameOf(*member.role)));
    Sizes(member.cpu, member.memory);
    Labels(member.labels);
    out_ << YAML::EndMap;
  }

  void One(const Job& job) {
    out_ << YAML::Flow << YAML::BeginMap;
    Name("name", job.name);
    Text("user", job.user);
    Text("queue", job.queue);
    if (job.priority != 0) Plain("priority", std::to_string(job.priority));
    Plain("submitted", Ms(job.submit - base::Instant{}));
    if (job.started) Plain("started", Ms(*job.started - base::Instant{}));
    if (job.limit) Plain("limit", Ms(*job.limit));
    if (job.steps > 0) Plain("steps", std::to_string(job.steps));
    if (job.speeds.empty()) Plain("lasts", Ms(job.duration));
    if (!job.speeds.empty()) {
      out_ << YAML::Key << "speeds" << YAML::Value << YAML::Flow << YAML::BeginMap;
      for (const Speed& speed : job.speeds) {
        out_ << YAML::Key << YAML::DoubleQuoted << speed.gpu_type << YAML::Value << YAML::Flow
             << YAML::BeginMap;
        Plain("together", Millionths(speed.together_microsteps_s));
        Plain("apart", Millionths(speed.apart_microsteps_s));
        out_ << YAML::EndMap;
      }
      out_ << YAML::EndMap;
    }
    out_ << YAML::Key << "members" << YAML::Value << YAML::BeginSeq;
    for (const Member& member : job.gang) Gang(member);
    out_ << YAML::EndSeq << YAML::EndMap;
  }
  static std::string Millionths(std::int64_t value) {
    return fmt::format("{}.{:06}", value / kMicro, value % kMicro);
  }

  void FaultsAndPolicy(const Workload& workload) {
    const Faults& faults = workload.faults;
    out_ << YAML::Key << "faults" << YAML::Value << YAML::BeginMap;
    if (faults.mtbf) Plain("mtbf", Ms(*faults.mtbf));
    if (faults.limits) {
      Plain("limits",
            Thousandths(faults.limits->low_milli) + ".." + Thousandths(faults.limits->high_milli));
    }
    Plain("repair", Ms(faults.repair));
    Plain("arrivals", Ms(faults.arrivals));
    out_ << YAML::Key << "outages" << YAML::Value << YAML::BeginSeq;
    for (const Outage& outage : faults.outages) {
      out_ << YAML::Flow << YAML::BeginMap;
      Name("server", outage.machine);
      Plain("at", Ms(outage.at));
      Plain("for", Ms(outage.length));
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq << YAML::EndMap;
    const Policy& policy = workload.policy;
    out_ << YAML::Key << "policy" << YAML::Value << YAML::BeginMap;
    Name("name", policy.name);
    out_ << YAML::Key << "baselines" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& name : policy.baselines) out_ << YAML::DoubleQuoted << name;
    out_ << YAML::EndSeq;
    if (policy.also_faster_milli > 0) Plain("also-faster", Thousandths(policy.also_faster_milli));
    Plain("restart", Ms(policy.restart));
    Plain("grace", Ms(policy.grace));
    Plain("saving", Ms(policy.saving));
    if (policy.checkpoint_every) Plain("checkpoint-every", Ms(*policy.checkpoint_every));
    Plain("apart-slowdown-percent", std::to_string(policy.apart_slowdown_percent));
    out_ << YAML::EndMap;
  }

  YAML::Emitter out_;
};

}  // namespace

std::string ToYaml(const Workload& workload) {
  return Writer().Write(workload);
}

}  // namespace pondage::trace
