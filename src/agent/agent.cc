#include "agent/agent.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "shim/files.h"

namespace pondage::agent {
namespace {

constexpr std::size_t kTextLimit = 1u << 20;

base::MilliCpu Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return {std::int64_t{CPU_COUNT(&set)} * 1000};
  return {sysconf(_SC_NPROCESSORS_ONLN) * 1000};
}

base::Bytes Memory() {
  return {sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)};
}

std::string OsImage() {
  const std::string text = "\n" + shim::ReadFile("/etc/os-release", kTextLimit).value_or("");
  constexpr std::string_view kKey = "\nPRETTY_NAME=\"";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return "Linux";
  const std::size_t from = at + kKey.size();
  return text.substr(from, text.find('"', from) - from);
}

manifest::MachineFacts FactsOf(const port::GpuInventory& inventory) {
  manifest::MachineFacts facts;
  facts.driver = inventory.driver;
  facts.cuda = inventory.cuda;
  utsname system{};
  if (uname(&system) == 0) facts.kernel = system.release;
  facts.os_image = OsImage();
  return facts;
}

std::string Architecture() {
  utsname system{};
  const std::string_view machine = uname(&system) == 0 ? system.machine : "";
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return std::string(machine);
}

// Empty when there is room.
std::string DiskTrouble(const AgentSettings& settings) {
  struct statvfs disk{};
  if (statvfs(settings.data_dir.c_str(), &disk) != 0) return "the data directory cannot be read";
  const auto free = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
  if (free >= settings.disk_floor.value) return "";
  // Without the amount, which changes all the time: the node would be told anew at each look.
  return "less than " + std::to_string(settings.disk_floor.value >> 20) +
         " MiB are free below the data directory";
}

}  // namespace

Agent::Agent(AgentSettings settings, std::unique_ptr<port::GpuProbe> probe, RunningNow running,
             const port::Clock& clock, OnNode on_node)
    : settings_(std::move(settings)),
      probe_(std::move(probe)),
      running_(std::move(running)),
      clock_(clock),
      on_node_(std::move(on_node)) {}

Agent::~Agent() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Agent::Begin() {
  thread_ = std::thread([this] { Loop(); });
}

void Agent::Loop() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    lock.unlock();
    Look();
    lock.lock();
    ending_.wait_for(lock, std::chrono::milliseconds(settings_.period.value),
                     [this] { return end_; });
  }
}

void Agent::Look() {
  port::GpuInventory inventory = ReadGpus();
  const std::vector<run::Running> running = running_();
  const std::vector<shim::Process> processes = shim::ReadProcesses();
  const std::set<std::string> foreign = Foreign(inventory, running, processes);
  fleet::Node node = NodeOf(inventory, foreign);
  auto replicas = Measure(running, processes);
  node.trouble = DiskTrouble(settings_);
  const manifest::MachineFacts facts = FactsOf(inventory);
  {
    const std::lock_guard lock(mutex_);
    gpus_ = std::move(inventory);
    replicas_ = std::move(replicas);
  }
  if (told_ == node) return;
  told_ = node;
  on_node_(std::move(node), facts);
}

port::GpuInventory Agent::ReadGpus() {
  if (!probe_) return {};
  if (auto read = probe_->Read()) return *std::move(read);
  // The driver went away under us: what was there is broken, not gone.
  port::GpuInventory last = Gpus();
  for (port::GpuReading& gpu : last.gpus) {
    gpu.healthy = false;
    gpu.processes.clear();
  }
  return last;
}

// A process that is not below one of our shims uses the GPU. One that /proc does not show counts
// from the second look on: it may just have ended, or it lives where we cannot look.
std::set<std::string> Agent::Foreign(const port::GpuInventory& inventory,
                                     const std::vector<run::Running>& running,
                                     const std::vector<shim::Process>& processes) {
  std::set<std::int64_t> ours;
  std::set<std::int64_t> seen;
  for (const shim::Process& process : processes) seen.insert(process.pid);
  for (const run::Running& replica : running) {
    for (const shim::Process& process :
         shim::Below(static_cast<pid_t>(replica.shim_pid), processes)) {
      ours.insert(process.pid);
    }
  }
  std::set<std::string> foreign;
  std::set<std::int64_t> unseen;
  for (const port::GpuReading& gpu : inventory.gpus) {
    for (const port::GpuProcess& process : gpu.processes) {
      if (ours.contains(process.pid)) continue;
      const bool visible = seen.contains(process.pid);
      if (!visible) unseen.insert(process.pid);
      if (visible || unseen_before_.contains(process.pid)) foreign.insert(gpu.id);
    }
  }
  unseen_before_ = std::move(unseen);
  return foreign;
}

std::vector<port::ReplicaReading> Agent::Measure(
    const std::vector<run::Running>& running, const std::vector<shim::Process>& processes) const {
  const std::int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<port::ReplicaReading> readings;
  for (const run::Running& replica : running) {
    port::ReplicaReading reading;
    reading.uid = replica.uid;
    reading.step = replica.said.step;
    reading.checkpoint_step = replica.said.checkpoint_step;
    reading.input_wait_permille = replica.said.input_wait_permille;
    reading.at = clock_.Now();
    std::int64_t ticks = 0;
    reading.memory_bytes = 0;
    for (const shim::Process& process :
         shim::Below(static_cast<pid_t>(replica.shim_pid), processes)) {
      ticks += static_cast<std::int64_t>(process.cpu_ticks);
      reading.memory_bytes += process.resident_pages * page;
    }
    reading.cpu_ms = ticks * 1000 / ticks_per_second;
    readings.push_back(std::move(reading));
  }
  return readings;
}

fleet::Node Agent::NodeOf(const port::GpuInventory& inventory,
                          const std::set<std::string>& foreign) const {
  fleet::Node node;
  node.name = settings_.node_name;
  node.cpu = settings_.cpu.value_or(Cores());
  node.memory = settings_.memory.value_or(Memory());
  node.labels = {{"kubernetes.io/hostname", settings_.node_name},
                 {"kubernetes.io/os", "linux"},
                 {"kubernetes.io/arch", Architecture()}};
  for (const port::GpuReading& gpu : inventory.gpus) {
    node.gpus.push_back({gpu.id, gpu.type, gpu.memory, gpu.numa, gpu.island, gpu.is_virtual,
                         gpu.healthy, foreign.contains(gpu.id)});
  }
  return node;
}

port::GpuInventory Agent::Gpus() const {
  const std::lock_guard lock(mutex_);
  return gpus_;
}

std::vector<port::ReplicaReading> Agent::Replicas() const {
  const std::lock_guard lock(mutex_);
  return replicas_;
}

}  // namespace pondage::agent
