#include "trace/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace pondage::trace {

namespace {

constexpr std::int64_t kMilli = 1'000;
constexpr std::int64_t kMicro = 1'000'000;

constexpr std::pair<std::string_view, base::Role> kRoles[] = {
    {"chief", base::Role::kChief},
    {"master", base::Role::kMaster},
    {"ps", base::Role::kPs},
    {"worker", base::Role::kWorker},
    {"evaluator", base::Role::kEvaluator}};

}  // namespace

std::string_view NameOf(base::Role role) {
  return std::ranges::find(kRoles, role, [](const auto& row) { return row.second; })->first;
}

std::optional<base::Role> RoleOf(std::string_view name) {
  const auto found = std::ranges::find(kRoles, name, [](const auto& row) { return row.first; });
  if (found == std::end(kRoles)) return std::nullopt;
  return found->second;
}

std::vector<Member> Cut(const std::vector<Member>& gang, int gpus_per_machine) {
  REQUIRE(gpus_per_machine > 0);
  std::vector<Member> cut;
  const base::MilliGpu whole = base::WholeGpus(gpus_per_machine);
  for (const Member& member : gang) {
    if (member.gpu <= whole) {
      cut.push_back(member);
      continue;
    }
    const std::int64_t machines = member.gpu.value / whole.value;
    const base::MilliGpu rest{member.gpu.value % whole.value};
    const auto part = [&](base::MilliGpu gpu, std::int64_t count) {
      Member piece = member;
      piece.gpu = gpu;
      piece.count = static_cast<int>(member.count * count);
      // CPU and memory follow the GPUs; what a division leaves over is dropped.
      piece.cpu = {static_cast<std::int64_t>(static_cast<__int128>(member.cpu.value) * gpu.value /
                                             member.gpu.value)};
      piece.memory = {static_cast<std::int64_t>(static_cast<__int128>(member.memory.value) *
                                                gpu.value / member.gpu.value)};
      cut.push_back(std::move(piece));
    };
    part(whole, machines);
    if (rest.value > 0) part(rest, 1);
  }
  return cut;
}

std::vector<fleet::Node> Nodes(const std::vector<Machines>& fleet) {
  std::vector<fleet::Node> nodes;
  for (const Machines& machines : fleet) {
    for (int i = 1; i <= machines.count; ++i) {
      fleet::Node node;
      node.name = machines.count == 1 ? machines.name : fmt::format("{}-{}", machines.name, i);
      node.cpu = machines.cpu;
      node.memory = machines.memory;
      node.labels = machines.labels;
      for (int gpu = 0; gpu < machines.gpus; ++gpu) {
        node.gpus.push_back({.id = fmt::format("virtual-{}", gpu),
                             .type = machines.gpu_type,
                             .memory = machines.gpu_memory,
                             .is_virtual = true});
      }
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

std::int64_t GpusOf(const std::vector<Machines>& fleet) {
  std::int64_t sum = 0;
  for (const Machines& machines : fleet) sum += std::int64_t{machines.count} * machines.gpus;
  return sum;
}

int LargestMachine(const std::vector<Machines>& fleet) {
  int most = 0;
  for (const Machines& machines : fleet) most = std::max(most, machines.gpus);
  return most;
}

base::MilliGpu GpuOf(const Job& job) {
  base::MilliGpu sum;
  for (const Member& member : job.gang) sum += member.gpu * member.count;
  return sum;
}

std::optional<base::Millis> TakesOn(const Job& job, const std::vector<std::string>& types,
                                    bool apart, int apart_percent) {
  if (job.speeds.empty()) {
    const std::int64_t more = apart ? job.duration.value / 100 * apart_percent : 0;
    return job.duration + base::Millis{more};
  }
  std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
  for (const std::string& type : types) {
    const auto speed = std::ranges::find(job.speeds, type, &Speed::gpu_type);
    if (speed == job.speeds.end()) return std::nullopt;
    slowest = std::min(slowest, apart ? speed->apart_microsteps_s : speed->together_microsteps_s);
  }
  if (slowest <= 0) return std::nullopt;
  const __int128 length =
      (static_cast<__int128>(job.steps) * kMicro * kMilli + slowest - 1) / slowest;
  return base::Millis{static_cast<std::int64_t>(length)};
}

std::optional<std::vector<std::string>> TypesFor(const Job& job, const Member& member,
                                                 const std::vector<Machines>& fleet) {
  std::set<std::pair<std::int64_t, std::string>> by_speed;  // negative: the fastest first
  bool any = member.gpu_types.empty();
  for (const Machines& machines : fleet) {
    if (machines.gpus == 0) continue;
    const std::string& type = machines.gpu_type;
    const auto speed = std::ranges::find(job.speeds, type, &Speed::gpu_type);
    const bool is_named = member.gpu_types.empty() ||
                          std::ranges::find(member.gpu_types, type) != member.gpu_types.end();
    const bool has_speed = speed != job.speeds.end() && speed->together_microsteps_s > 0 &&
                           speed->apart_microsteps_s > 0;
    const bool runs = job.speeds.empty() || has_speed;
    any = any && runs;
    if (runs && is_named) by_speed.emplace(has_speed ? -speed->together_microsteps_s : 0, type);
  }
  if (any || member.gpu.value == 0) return std::nullopt;
  std::vector<std::string> types;
  for (const auto& [speed, type] : by_speed) types.push_back(type);
  return types;
}

std::int64_t Work(const std::vector<Job>& jobs) {
  base::MilliGpu sum;
  for (const Job& job : jobs) sum += GpuOf(job) * job.duration.value;
  return sum.value;
}

base::MilliGpu PeakDemand(const std::vector<Job>& jobs) {
  std::vector<std::tuple<base::Instant, std::int64_t>> changes;  // ends sort before starts
  for (const Job& job : jobs) {
    if (job.duration.value == 0) continue;
    changes.emplace_back(job.submit, GpuOf(job).value);
    changes.emplace_back(job.submit + job.duration, -GpuOf(job).value);
  }
  std::ranges::sort(changes);
  std::int64_t now = 0, peak = 0;
  for (const auto& [at, change] : changes) peak = std::max(peak, now += change);
  return {peak};
}

bool Hurry(std::vector<Job>& jobs, std::int64_t milli) {
  REQUIRE(milli > 0);
  if (jobs.empty()) return true;
  const base::Instant first = jobs.front().submit;
  for (Job& job : jobs) {
    const __int128 since = static_cast<__int128>((job.submit - first).value) * kMilli / milli;
    if (since > std::numeric_limits<std::int64_t>::max() / 4) return false;
    if (milli != kMilli) job.started.reset();  // that was another life
    job.submit = first + base::Millis{static_cast<std::int64_t>(since)};
  }
  return true;
}

void SortBySubmission(std::vector<Job>& jobs) {
  std::ranges::stable_sort(jobs, {}, &Job::submit);
}

base::Result<void> Check(const Workload& workload) {
  const auto fail = [](std::string object, std::string why) {
    return base::Fail(base::Kind::kInvalid, "", std::move(object), std::move(why));
  };
  std::set<std::string> names;
  for (const Machines& machines : workload.fleet) {
    for (int i = 1; i <= machines.count; ++i) {
      auto name = machines.count == 1 ? machines.name : fmt::format("{}-{}", machines.name, i);
      if (!names.insert(name).second) return fail("machine " + name, "there are two of this name");
    }
  }
  for (const Outage& outage : workload.faults.outages) {
    if (!names.contains(outage.machine)) return fail("machine " + outage.machine, "there is none");
  }
  std::set<std::string> queues;
  for (const queue::Spec& queue : workload.queues) {
    if (!queues.insert(queue.name).second) {
      return fail("queue " + queue.name, "there are two of this name");
    }
  }
  const base::MilliGpu all = base::WholeGpus(GpusOf(workload.fleet));
  names.clear();
  __int128 work = 0;
  for (const Job& job : workload.jobs) {
    if (!names.insert(job.name).second)
      return fail("job " + job.name, "there are two of this name");
    if (!queues.empty() && !queues.contains(job.queue)) {
      return fail("job " + job.name, fmt::format("there is no queue \"{}\"", job.queue));
    }
    work += static_cast<__int128>(GpuOf(job).value) * job.duration.value;
    if (work > std::numeric_limits<std::int64_t>::max()) {
      return fail("job " + job.name, "all jobs up to here are more GPU-time than can be counted");
    }
    if (const auto gpu = GpuOf(job); !workload.fleet.empty() && gpu > all) {
      return fail("job " + job.name,
                  fmt::format("it asks for {} GPUs, all machines together have {}",
                              gpu.value / kMilli, all.value / kMilli));
    }
  }
  return {};
}

}  // namespace pondage::trace
