// All machines, and what of them is free.
//
// Single-threaded, owned by the pool; planners work on a copy. Invariants:
//   1. A GPU is held whole by one job, or in parts whose sum is at most one; a grant is wholly held
//   or not at all.
//   2. Free = capacity - sum of grants, per node, for every resource; it may be negative for cpu
//   and
//      memory only when a node came back smaller than what runs on it.
//   3. A node that was forgotten while grants are held stays, as lost, until the last one is
//   released.
//   4. A GPU keeps its index: what reads the machine reports a vanished GPU as unhealthy, in its
//   place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "fleet/demand.h"
#include "fleet/node.h"

namespace pondage::fleet {

// A node with its holders. `holder[i]` is the job that holds GPU i, if any; the list is longer than
// `node.gpus` only when the node came back with fewer GPUs than are held there.
struct Place {
  Node node;
  std::vector<std::optional<base::JobId>> holder;
  std::map<base::JobId, std::vector<Grant>> grants;
  std::map<int, base::MilliGpu> shared;  // GPUs of which parts are held, and how much of them
  base::MilliCpu free_cpu;
  base::Bytes free_memory;
  bool forgotten = false;  // goes with its last grant

  // Whether GPU `index` could be granted whole now: free, healthy, not used by strangers.
  bool IsFree(int index) const;

  // What could be granted of it now: all, the part that no share holds, or nothing.
  base::MilliGpu FreeOf(int index) const;

  // GPUs that could be granted now. 0 unless the node is ready.
  int FreeGpus() const;
};

class Fleet {
 public:
  // Adds the node, or replaces what is known of it. Grants stay where they are.
  void See(Node node);

  // The node gave no sign of life: nothing is placed there until it is seen again.
  void Lose(std::string_view name);

  // The node is gone for good.
  void Forget(std::string_view name);

  // Cordons or uncordons. False when there is no such node.
  bool Cordon(std::string_view name, bool cordoned);

  // Takes the grant for `job`. Requires that it names a known node and that nobody holds its GPUs.
  // Health is not asked: a running job is bound again after a restart wherever it runs.
  void Bind(base::JobId job, const Grant& grant);

  // Gives it back. Requires that `job` holds it.
  void Release(base::JobId job, const Grant& grant);

  // Whether the grant could be bound now.
  bool Fits(const Grant& grant) const;

  // Nodes by name.
  const std::map<std::string, Place, std::less<>>& places() const { return places_; }
  const Place* Find(std::string_view name) const;

 private:
  std::map<std::string, Place, std::less<>> places_;
};

// The grant of `demand` on this place if it fits there now: the free GPUs of lowest index that are
// of the right type. Nothing is taken.
std::optional<Grant> FitOn(const Place& place, const Demand& demand);

// Whether `demand` would fit on this node if nothing else ran there, whatever its health and that
// of its GPUs.
bool CouldFit(const Node& node, const Demand& demand);

// The two halves of "may be placed there at all": the node carries the labels and no taint that is
// not tolerated, the GPU has the type.
bool CarriesLabels(const Node& node, const Demand& demand);
bool IsOfType(const Gpu& gpu, const Demand& demand);

// What a replica that asks for a part is charged of a device with so much memory: its compute share
// or its part of the memory, whichever is larger, rounded up. More than a whole GPU: it cannot be
// had there.
base::MilliGpu PartOf(const Demand& demand, base::Bytes device);

}  // namespace pondage::fleet
