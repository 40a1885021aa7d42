// A workload: machines, queues, jobs, faults and a policy, whatever file they came from.
//
// Values; any thread. What a job does is stated for a gang that runs undisturbed: the host of a run
// decides when it starts and what disturbs it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/instant.h"
#include "base/quantity.h"
#include "base/result.h"
#include "fleet/node.h"
#include "queue/tree.h"

namespace pondage::trace {

// `count` equal machines.
struct Machines {
  std::string name;  // of one; of several "name-1", "name-2", ...
  int count = 1;
  int gpus = 0;  // of each
  std::string gpu_type;
  base::Bytes gpu_memory;
  base::MilliCpu cpu;
  base::Bytes memory;
  std::map<std::string, std::string> labels;

  bool operator==(const Machines&) const = default;
};

// `count` equal members of a gang.
struct Member {
  int count = 1;
  base::MilliGpu gpu;                  // of each; below one GPU a share of one, else whole GPUs
  std::vector<std::string> gpu_types;  // any of them; empty: any at all
  base::MilliCpu cpu;
  base::Bytes memory;
  std::map<std::string, std::string> labels;  // the machine carries them
  std::optional<base::Role> role;             // none: workers, and one of another kind the chief

  bool operator==(const Member&) const = default;
};

// How fast the whole gang goes on GPUs of one type. 0: it cannot run there.
struct Speed {
  std::string gpu_type;
  std::int64_t together_microsteps_s =
      0;                                // 1/1,000,000 step a second; on as few machines as can be
  std::int64_t apart_microsteps_s = 0;  // spread over more

  bool operator==(const Speed&) const = default;
};

struct Job {
  std::string name;   // unique in its workload
  std::string queue;  // empty: the only one
  std::string user;
  int priority = 0;
  base::Instant submit;
  base::Millis duration;              // at its best speed
  std::optional<base::Millis> limit;  // hard run-time limit, known to the planner
  std::vector<Member> gang;
  std::int64_t steps = 0;     // with speeds: what there is to do
  std::vector<Speed> speeds;  // empty: `duration` wherever it runs
  // When it started where this was recorded, to run `duration` from then on; none: nobody knows.
  std::optional<base::Instant> started;

  bool operator==(const Job&) const = default;
};

// A machine that is away from `at` for `length`.
struct Outage {
  std::string machine;
  base::Millis at;  // from the first submission
  base::Millis length;

  bool operator==(const Outage&) const = default;
};

// Limits as people state them: somewhere between so many thousandths of the true length.
struct LimitErrors {
  std::int64_t low_milli = 1'000;
  std::int64_t high_milli = 1'000;

  bool operator==(const LimitErrors&) const = default;
};

// What goes wrong. Lengths are means, drawn with the seed of a run.
struct Faults {
  std::optional<base::Millis> mtbf;  // of one machine; none: only the outages below
  base::Millis repair = base::SecondsLong(3'600);
  std::vector<Outage> outages;
  std::optional<LimitErrors> limits;  // of every job, instead of the limit it states
  base::Millis arrivals;              // every job comes up to so much later

  // Whether seeds differ in anything.
  bool LeavesToChance() const { return mtbf || limits || arrivals.value > 0; }
  bool operator==(const Faults&) const = default;
};

// How to decide, what a disturbance costs, and what to compare with.
struct Policy {
  std::string name = "pondage";
  std::vector<std::string> baselines;  // played beside it: policies, or "islands"
  std::int64_t also_faster_milli = 0;  // run it again with arrivals so many times as fast; 0: no
  base::Millis restart;                // from being bound again to the first new step
  base::Millis grace = base::SecondsLong(30);  // between notice and kill
  base::Millis saving;  // from notice to exit; longer than the grace: it is killed unsaved
  std::optional<base::Millis> checkpoint_every;  // none: every notice saves all work
  int apart_slowdown_percent = 0;                // of a gang on more machines than it needs

  bool operator==(const Policy&) const = default;
};

struct Workload {
  std::string source;  // what was read, for people
  std::vector<Machines> fleet;
  std::vector<queue::Spec> queues;
  std::vector<Job> jobs;  // by submission; at one instant in the order of the file
  Faults faults;
  Policy policy;

  bool operator==(const Workload&) const = default;
};

// "chief", "ps", ...
std::string_view NameOf(base::Role role);
std::optional<base::Role> RoleOf(std::string_view name);

// A job of a trace that states only a number of GPUs is one member of all of them. Members larger
// than a machine become as many whole machines as they fill, and one of the rest.
std::vector<Member> Cut(const std::vector<Member>& gang, int gpus_per_machine);

// The machines one by one, as a planner knows them.
std::vector<fleet::Node> Nodes(const std::vector<Machines>& fleet);

std::int64_t GpusOf(const std::vector<Machines>& fleet);
int LargestMachine(const std::vector<Machines>& fleet);  // in GPUs
base::MilliGpu GpuOf(const Job& job);                    // of the whole gang

// How long the whole job takes on machines with GPUs of these types, `apart_percent` longer where
// it is spread over more of them than it needs and no speeds are known. None: it cannot run there.
std::optional<base::Millis> TakesOn(const Job& job, const std::vector<std::string>& types,
                                    bool apart, int apart_percent);

// The types of GPU of these machines that the member may get: those it names, and where its job's
// speeds are known those with a speed, the fastest first. None: any type does.
std::optional<std::vector<std::string>> TypesFor(const Job& job, const Member& member,
                                                 const std::vector<Machines>& fleet);

// GPU-time of all jobs in milli-GPU x ms, and the most GPUs that would run at once if every job
// started when it was submitted (ends before starts at one instant).
std::int64_t Work(const std::vector<Job>& jobs);
base::MilliGpu PeakDemand(const std::vector<Job>& jobs);

// Arrivals `milli`/1000 times as fast from the first on, rounded down to a millisecond; lengths
// stay. Requires jobs by submission and milli > 0. False: they would leave the calendar.
bool Hurry(std::vector<Job>& jobs, std::int64_t milli);

// By submission, keeping the order of equals.
void SortBySubmission(std::vector<Job>& jobs);

// What every reader ends with. Not a workload: two jobs or machines of one name, a job that no
// machine could ever hold, a queue that is not there, a negative time.
base::Result<void> Check(const Workload& workload);

}  // namespace pondage::trace
