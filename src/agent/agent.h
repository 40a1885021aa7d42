// What this machine tells of itself: GPUs and who uses them, use of replicas, room on the disk.
//
// Its own thread looks every few seconds; Gpus() and Replicas() answer from memory, on
// any thread. Look() by hand only before Begin().
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fleet/node.h"
#include "manifest/queue.h"
#include "port/clock.h"
#include "port/telemetry.h"
#include "run/shim_runner.h"
#include "shim/process_tree.h"

namespace pondage::agent {

struct AgentSettings {
  std::string node_name;
  std::string data_dir;
  base::Millis period{5'000};
  std::optional<base::MilliCpu> cpu;  // allocatable; else all cores of this process
  std::optional<base::Bytes> memory;  // ... else what the machine has
  base::Bytes disk_floor{1 << 30};    // free below the data directory; with less nothing new starts
};

class Agent : public port::Telemetry {
 public:
  using OnNode = std::function<void(fleet::Node, manifest::MachineFacts)>;
  using RunningNow = std::function<std::vector<run::Running>()>;

  // `probe` may be null: no GPUs. `on_node` is called whenever the node is not what it was.
  Agent(AgentSettings settings, std::unique_ptr<port::GpuProbe> probe, RunningNow running,
        const port::Clock& clock, OnNode on_node);
  ~Agent() override;

  void Begin();
  void Look();

  port::GpuInventory Gpus() const override;
  std::vector<port::ReplicaReading> Replicas() const override;

 private:
  port::GpuInventory ReadGpus();
  std::set<std::string> Foreign(const port::GpuInventory& inventory,
                                const std::vector<run::Running>& running,
                                const std::vector<shim::Process>& processes);
  std::vector<port::ReplicaReading> Measure(const std::vector<run::Running>& running,
                                            const std::vector<shim::Process>& processes) const;
  fleet::Node NodeOf(const port::GpuInventory& inventory,
                     const std::set<std::string>& foreign) const;
  void Loop();

  const AgentSettings settings_;
  std::unique_ptr<port::GpuProbe> probe_;
  const RunningNow running_;
  const port::Clock& clock_;
  const OnNode on_node_;

  // Of the looking thread.
  std::optional<fleet::Node> told_;
  std::set<std::int64_t> unseen_before_;  // GPU processes that /proc did not show at the last look

  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  port::GpuInventory gpus_;
  std::vector<port::ReplicaReading> replicas_;
  std::thread thread_;
};

}  // namespace pondage::agent
