// Our own history: the objects of a server as a workload, to be decided on once more.
//
// Pure, one thread. What a TFJob asked for, when it stood in its queue, when it was started and how
// long it held its GPUs is read to the millisecond. Left out: jobs that are suspended; that a job
// was started several times (it is played once, from its first start to its end), and what was
// deleted since. A job that still runs is taken to end with the history, one that still waits to
// run an hour.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/workload.h"

namespace pondage::replay {

// A List of Nodes, Queues, PriorityClasses and TFJobs as `kubectl get -o json` prints it; other
// kinds are passed over. Errors name the object.
base::Result<trace::Workload> ReadHistory(std::string_view list_json);

}  // namespace pondage::replay
