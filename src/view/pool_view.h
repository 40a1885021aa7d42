// The machines of the pool with their GPUs and who holds them, put together from what the server
// says of nodes, GPUs and Pods.
//
// Pure but for LookAtPool, which asks the server.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "client/json.h"
#include "view/job_view.h"

namespace pondage::view {

struct GpuView {
  std::int64_t index = 0;
  std::string id, type, node;
  bool is_virtual = false, healthy = true, foreign = false;
  std::int64_t memory_bytes = 0;
  // Readings; absent where nothing can be read (virtual GPUs).
  std::optional<std::int64_t> memory_used_bytes, utilisation_percent, temperature_c, power_w;
  std::string TypeText() const {  // a virtual one is always called so
    return !is_virtual || type.contains("virtual") ? type : type + " (virtual)";
  }
  std::size_t processes = 0;
  bool held = false;
  std::string job, replica, user;  // who holds it, where that may be known
};

struct NodeView {
  std::string name, health;  // ready, cordoned, lost
  std::string driver, os, address;
  std::int64_t cpu_milli = 0, memory_bytes = 0;
  std::vector<GpuView> gpus;
  base::Instant created;
};

struct PoolView {
  std::vector<NodeView> nodes;
  std::vector<JobView> jobs;  // not finished, in order of their names
  std::string driver, cuda;
};

PoolView MakePool(const std::vector<json::value>& nodes, const json::value& readings,
                  const std::vector<json::value>& jobs);
base::Result<PoolView> LookAtPool(client::Client& client, const std::string& own_space);

}  // namespace pondage::view
