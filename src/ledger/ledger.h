// The account of GPU time: an interval opens when GPUs are bound and closes when they are released.
//
// Exact: milli-GPU x ms in int64, undecayed. Allocated GPUs are charged, used or not, over exactly
// the binding's interval. Single-threaded, owned by the pool. Invariants:
//   1. A replica has at most one open interval.
//   2. Sum of all entries (open ones cut at `now`) = integral of bindings. A binding lasts until
//   its
//      program has ended, which a server that was away learns and writes down late.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "base/quantity.h"

namespace pondage::ledger {

// One closed interval. Written once, kept for ever.
struct Entry {
  base::ReplicaId replica;
  std::string job;  // "namespace/name"
  std::string uid;
  std::string queue;
  std::string user;
  std::string node;
  int attempt = 0;
  base::MilliGpu gpus;
  base::Instant from;
  base::Instant to;         // >= from
  std::string image;        // reference the replica ran with
  std::string environment;  // what served it
  std::string end;          // why it ended: "finished", "failed", "restart", "preempted", "stopped"

  std::int64_t MilliGpuMillis() const { return gpus.value * (to - from).value; }
  bool operator==(const Entry&) const = default;
};

class Ledger {
 public:
  // Requires that the replica has no open interval. `opening.to` and `opening.end` are ignored.
  void Open(Entry opening);

  // Closes and hands the finished entry out. A clock that went back gives an empty interval.
  // Requires that the replica has an open interval.
  Entry Close(base::ReplicaId replica, base::Instant to, std::string end);

  bool IsOpen(base::ReplicaId replica) const { return open_.contains(replica); }
  const std::map<base::ReplicaId, Entry>& open() const { return open_; }

 private:
  std::map<base::ReplicaId, Entry> open_;
};

}  // namespace pondage::ledger
