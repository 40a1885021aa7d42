#include "view/pool_view.h"

#include <algorithm>

#include "client/kube.h"
#include "view/amounts.h"

namespace pondage::view {
namespace {

std::string HealthOf(const json::value& node) {
  for (const json::value& condition : client::Items(node, {"status", "conditions"})) {
    if (client::Text(condition, {"type"}) == "Ready" &&
        client::Text(condition, {"status"}) != "True")
      return "lost";
  }
  return client::IsTrue(node, {"spec", "unschedulable"}) ? "cordoned" : "ready";
}

std::optional<std::int64_t> Reading(const json::value& object, std::string_view name) {
  const auto number = client::Number(object, {name});
  return number && *number >= 0 ? number : std::nullopt;
}

NodeView ViewNode(const json::value& object) {
  NodeView node;
  node.name = client::Text(object, {"metadata", "name"});
  node.health = HealthOf(object);
  node.driver = client::Text(object, {"metadata", "labels", "nvidia.com/cuda.driver-version.full"});
  node.os = client::Text(object, {"status", "nodeInfo", "osImage"});
  node.cpu_milli = MilliOf(object, {"status", "allocatable", "cpu"}).value_or(0);
  node.memory_bytes = BytesOf(object, {"status", "allocatable", "memory"}).value_or(0);
  node.created = client::Time(object, {"metadata", "creationTimestamp"}).value_or(base::Instant{});
  for (const json::value& address : client::Items(object, {"status", "addresses"})) {
    if (client::Text(address, {"type"}) == "InternalIP")
      node.address = client::Text(address, {"address"});
  }
  const auto gpus = client::ParseReply(
      client::Text(object, {"metadata", "annotations", "pondage.dev/gpus"}), "gpus");
  if (!gpus || !gpus->is_array()) return node;
  for (const json::value& entry : gpus->get_array()) {
    GpuView gpu;
    gpu.index = static_cast<std::int64_t>(node.gpus.size());
    gpu.node = node.name;
    gpu.id = client::Text(entry, {"id"});
    gpu.type = client::Text(entry, {"type"});
    gpu.memory_bytes = client::NumberOr(entry, {"memoryBytes"}, 0);
    gpu.is_virtual = client::IsTrue(entry, {"virtual"});
    gpu.foreign = client::IsTrue(entry, {"foreign"});
    gpu.healthy = client::Find(entry, {"healthy"}) == nullptr || client::IsTrue(entry, {"healthy"});
    node.gpus.push_back(std::move(gpu));
  }
  return node;
}

void AddReadings(PoolView& pool, const json::value& readings) {
  pool.driver = client::Text(readings, {"driver"});
  pool.cuda = client::Text(readings, {"cuda"});
  std::map<std::string, const json::value*> by_id;
  for (const json::value& reading : client::Items(readings, {"gpus"}))
    by_id[client::Text(reading, {"id"})] = &reading;
  for (const json::value& held : client::Items(readings, {"held"})) {
    const auto node = std::ranges::find(pool.nodes, client::Text(held, {"node"}), &NodeView::name);
    const auto index = client::NumberOr(held, {"index"}, -1);
    if (node == pool.nodes.end()) continue;
    if (index < 0 || index >= static_cast<std::int64_t>(node->gpus.size())) continue;
    node->gpus[static_cast<std::size_t>(index)].held = true;
  }
  for (NodeView& node : pool.nodes) {
    for (GpuView& gpu : node.gpus) {
      const auto found = by_id.find(gpu.id);
      if (found == by_id.end()) continue;
      const json::value& reading = *found->second;
      gpu.utilisation_percent = Reading(reading, "utilisationPercent");
      gpu.temperature_c = Reading(reading, "temperatureC");
      gpu.power_w = Reading(reading, "powerW");
      if (!gpu.is_virtual) gpu.memory_used_bytes = Reading(reading, "memoryUsedBytes");
      gpu.processes = client::Items(reading, {"processes"}).size();
    }
  }
}

void AddHolders(PoolView& pool) {
  for (const JobView& job : pool.jobs) {
    for (const ReplicaView& replica : job.replicas) {
      for (NodeView& node : pool.nodes) {
        if (node.name != replica.node) continue;
        for (const std::int64_t index : replica.gpus) {
          if (index < 0 || index >= static_cast<std::int64_t>(node.gpus.size())) continue;
          GpuView& gpu = node.gpus[static_cast<std::size_t>(index)];
          gpu.held = true;
          gpu.job = job.name;
          gpu.replica = replica.name;
          gpu.user = job.user.empty() ? job.space : job.user;
        }
      }
    }
  }
}

}  // namespace

PoolView MakePool(const std::vector<json::value>& nodes, const json::value& readings,
                  const std::vector<json::value>& jobs) {
  PoolView pool;
  for (const json::value& node : nodes) pool.nodes.push_back(ViewNode(node));
  std::ranges::sort(pool.nodes, {}, &NodeView::name);
  for (const json::value& object : jobs) {
    JobView job = ViewJob(object);
    if (!IsEnd(job.state)) pool.jobs.push_back(std::move(job));
  }
  std::ranges::sort(pool.jobs, {},
                    [](const JobView& job) { return std::pair(job.space, job.name); });
  AddReadings(pool, readings);
  AddHolders(pool);
  return pool;
}

base::Result<PoolView> LookAtPool(client::Client& client, const std::string& own_space) {
  TRY(const auto nodes, client::ListAll(client, "/api/v1/nodes"));
  auto readings = client.Get("/pondage/v1/gpus");
  if (!readings) {
    if (readings.error().kind == base::Kind::kUnavailable) return std::unexpected(readings.error());
    readings = json::value(json::object());
  }
  auto jobs = client::ListAll(client, client::TfJobPath(""));
  if (!jobs && jobs.error().kind == base::Kind::kForbidden)
    jobs = client::ListAll(client, client::TfJobPath(own_space));
  if (!jobs) return std::unexpected(jobs.error());
  return MakePool(nodes, *readings, *jobs);
}

}  // namespace pondage::view
