// What a workload is played on: the pool alone, or the whole server around it, in virtual time.
//
// One thread, driven by Player. Both hosts take the same decisions at the same instants (host_test
// plays random workloads on both): the pool's is quick, the server's also goes through bytes, store
// and loop.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/instant.h"
#include "base/result.h"
#include "fleet/node.h"
#include "job/status.h"
#include "port/clock.h"
#include "port/runner.h"
#include "queue/tree.h"
#include "trace/workload.h"

namespace pondage::replay {

// When the pool ends a job that still runs, from its first start. A limit is in whole seconds, and
// a job that takes exactly as long as it said must not run into it.
inline std::optional<base::Millis> DeadlineOf(const trace::Job& job) {
  if (!job.limit) return std::nullopt;
  return base::SecondsLong(job.limit->value / 1'000 + 1);
}

// A job of the workload as a TFJob: roles with equal members, under a number and a queue's name.
struct Sheet {
  std::size_t number = 0;  // by submission
  std::string name;        // a DNS label
  const trace::Job* job = nullptr;
  std::string queue;
  std::map<base::Role, trace::Member> roles;
  base::Millis grace;
};

// The environment of a program names its job and machine so: "default/train-17", "node-3".
inline constexpr const char* kJobVariable = "JOB";
inline constexpr const char* kNodeVariable = "NODE";

class Host {
 public:
  virtual ~Host() = default;

  virtual void See(fleet::Node node) = 0;
  virtual void Put(const queue::Spec& queue) = 0;
  virtual void Apply(const Sheet& sheet) = 0;
  virtual void Tell(port::Reading reading) = 0;

  // Decides on what it was told, and orders programs about. Gives the instant of its next turn;
  // now, when there is more to do at once. Errors: a job or queue was refused.
  virtual base::Result<base::Instant> Turn() = 0;

  // Why the job of this name waits, as its status says; none: it does not.
  virtual std::optional<job::Reason> WhyWaits(const std::string& name) const = 0;
};

std::unique_ptr<Host> PoolHost(port::Runner& programs, const port::Clock& clock);
std::unique_ptr<Host> ServerHost(port::Runner& programs, port::Clock& clock);

}  // namespace pondage::replay
