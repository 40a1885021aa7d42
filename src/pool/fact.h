// What the pool is told, in the order of a TFJob's life. Facts are all it ever learns.
//
// Values; any thread. Times inside facts are when it happened; when it is taken is Step's argument.
// A fact that is late, repeated or about an older incarnation changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "fleet/node.h"
#include "job/spec.h"
#include "job/status.h"
#include "queue/tree.h"

namespace pondage::pool {

// A job was stored, or its spec was changed: not its queue, which is for ever.
struct JobApplied {
  job::Identity identity;
  job::Spec spec;
  std::string by = {};  // who asked for it
};
// The host read it from its store at start: the pool's memory of it.
struct JobLoaded {
  job::Identity identity;
  job::Spec spec;
  job::Status status;
  bool removed = false;
};
struct JobRemoved {
  base::JobId job;
};  // deletion was asked for
// The first of its needs that is not met; none: all are there. Unsaid: all are.
struct JobLacks {
  base::JobId job;
  std::optional<job::Lack> lack;
};

struct QueuePut {
  queue::Spec spec;
};
struct QueueRemoved {
  std::string name;
};

// The host read it from its store at start, behind the jobs: what SetUse told.
struct UseKept {
  queue::Tree::UseOf use;
};

// ... and the last Planned: from there the pool goes on.
struct PlanKept {
  base::Instant at;
};

struct NodeSeen {
  fleet::Node node;
};
struct NodeLost {  // it is no part of the pool any more, or not until it is seen again
  std::string name;
};

// From the machine where the replica runs.
struct ReplicaStarted {
  base::ReplicaId replica;
  base::Instant at;
};
struct ReplicaSaid {  // reported by the job's own module
  base::ReplicaId replica;
  std::int64_t step = -1;
};
struct ReplicaExited {
  base::ReplicaId replica;
  job::Exit exit;
};
// It could not be started. `ports_taken`: the cause is a port somebody else listens on.
struct ReplicaNotStarted {
  base::ReplicaId replica;
  int code = 128;  // as a shell shows it: 126 not executable, 127 not found
  std::string message;
  std::vector<int> ports_taken;
  base::Instant at;
};
struct CheckpointSeen {
  base::JobId job;
  job::Checkpoint checkpoint;
};

// Its Pod is being deleted, by somebody else than the pool.
struct PodDeleting {
  base::ReplicaId replica;
  std::optional<base::Instant> by;  // when whoever deletes it said how long it may take
};

// A job that the host cannot read holds these: they are nobody else's until it says so. Of them
// only GPUs count that no other job's status names.
struct GpusKept {
  base::JobId job;  // not that of a job the pool knows
  std::string path;
  std::vector<fleet::Grant> grants;
};
struct GpusFreed {
  base::JobId job;
};

// What became of the programs of the loaded jobs is not known yet: until it is, what such a job
// is to do is not decided. A limit that passed meanwhile may have been met before.
struct ProgramsUnheard {};
struct ProgramsHeard {};

using Fact = std::variant<JobApplied, JobLoaded, JobRemoved, JobLacks, QueuePut, QueueRemoved,
                          UseKept, PlanKept, NodeSeen, NodeLost, ReplicaStarted, ReplicaSaid,
                          ReplicaExited, ReplicaNotStarted, CheckpointSeen, PodDeleting, GpusKept,
                          GpusFreed, ProgramsUnheard, ProgramsHeard>;

}  // namespace pondage::pool
