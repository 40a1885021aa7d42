// The packing experiment of FGD on the openb machines: pods in random order, placed one by one,
// never removed; how much of the GPUs is allocated when as much was asked for as there is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "baseline/placing.h"
#include "trace/read.h"

namespace pondage::packing {

struct Cluster {
  trace::Workload workload;
  std::vector<baseline::Machine> machines;
  std::vector<baseline::Member> pods;
  std::int64_t milli_gpu = 0;  // of all machines
};

inline std::int64_t MilliOf(const baseline::Member& pod) {
  return pod.part_milli > 0 ? pod.part_milli : 1'000LL * pod.gpus;
}

// `traces`: the folder data/traces. `pods`: "default", "gpuspec33", ...
inline base::Result<Cluster> Read(const std::string& traces, const std::string& pods) {
  Cluster cluster;
  TRY(cluster.workload,
      trace::Read(trace::Disk(traces), trace::Format::kOpenb, "openb/pods_" + pods + ".csv",
                  {.machines = "openb/nodes.csv"}));
  std::map<std::string, int> numbers;
  const auto number = [&](const std::string& type) {
    return numbers.emplace(type, static_cast<int>(numbers.size())).first->second;
  };
  for (const trace::Machines& machine : cluster.workload.fleet) {
    cluster.machines.push_back(
        {machine.gpus, number(machine.gpu_type), machine.cpu.value, machine.memory.value});
    cluster.milli_gpu += 1'000LL * machine.gpus;
  }
  for (const trace::Job& job : cluster.workload.jobs) {
    const trace::Member& asked = job.gang.front();
    baseline::Member pod{.cpu_milli = asked.cpu.value, .memory = asked.memory.value};
    const bool is_part = asked.gpu.value % 1'000 != 0;
    (is_part ? pod.part_milli : pod.gpus) =
        static_cast<int>(is_part ? asked.gpu.value : asked.gpu.value / 1'000);
    for (const std::string& type : asked.gpu_types) pod.types.push_back(number(type));
    std::ranges::sort(pod.types);
    cluster.pods.push_back(std::move(pod));
  }
  return cluster;
}

// Which pods arrive, in order: all of them shuffled, then copies of random ones until the next
// would ask for more than 1.3 times the machines; where they ask for more, random ones are left
// out.
inline std::vector<std::size_t> Arrivals(const Cluster& cluster, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<std::size_t> pods(cluster.pods.size());
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = i;
  for (std::size_t i = pods.size(); i > 1; --i) std::swap(pods[i - 1], pods[random.Below(i)]);
  const std::int64_t most = cluster.milli_gpu * 13 / 10;
  std::int64_t asked = 0;
  for (const baseline::Member& pod : cluster.pods) asked += MilliOf(pod);
  while (asked > most) {
    const std::size_t gone = random.Below(pods.size());
    asked -= MilliOf(cluster.pods[pods[gone]]);
    pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(gone));
  }
  while (true) {
    const std::size_t more = random.Below(cluster.pods.size());
    asked += MilliOf(cluster.pods[more]);
    if (asked > most) return pods;
    pods.push_back(more);
  }
}

// Percent of the GPUs that are allocated when as much has arrived as there is.
inline double FilledAt100(const Cluster& cluster, baseline::Placing placing, std::uint64_t seed) {
  baseline::Placer placer(cluster.machines, placing, baseline::TypicalOf(cluster.pods));
  std::int64_t arrived = 0;
  for (const std::size_t pod : Arrivals(cluster, seed)) {
    arrived += MilliOf(cluster.pods[pod]);
    if (arrived > cluster.milli_gpu) break;
    placer.Take({cluster.pods[pod]});
  }
  return 100.0 * static_cast<double>(placer.held_milli_gpu()) /
         static_cast<double>(cluster.milli_gpu);
}

}  // namespace pondage::packing
