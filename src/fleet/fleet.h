// All machines, and what of them is free.
//
// Single-threaded, owned by the pool; planners work on a copy. Invariants:
//   1. A GPU has at most one holder; a grant is wholly held or not at all.
//   2. Free = capacity - sum of grants, per node, for every resource; it may be negative for cpu and
//      memory only when a node came back smaller than what runs on it.
//   3. A node that vanished while grants are held stays, as lost, until the last one is released.
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

// A node with its holders. `holder[i]` is the job that holds GPU i, if any.
struct Place {
  Node node;
  std::vector<std::optional<base::JobId>> holder;
  base::MilliCpu free_cpu;
  base::Bytes free_memory;

  // GPUs that could be granted now: free, healthy, not used by strangers. 0 unless ready.
  int FreeGpus() const;
};

class Fleet {
 public:
  // Adds the node, or replaces what is known of it. Grants stay where they are.
  void See(Node node);

  // The node gave no sign of life, or is gone: nothing is placed there until it is seen again.
  void Lose(std::string_view name);

  // Cordons or uncordons. False when there is no such node.
  bool Cordon(std::string_view name, bool cordoned);

  // Takes the grant for `job`. Requires that it names a known node and that all of its GPUs are free.
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

// Whether `demand` would fit on this node if nothing else ran there, whatever its health.
bool CouldFit(const Node& node, const Demand& demand);

}  // namespace pondage::fleet
