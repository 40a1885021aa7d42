// What a run leaves to chance, all of it drawn from its seed: what limits people state, when
// their jobs come, and when machines fail.
//
// One thread. Every machine and every job has a stream of its own: what one draws changes nothing
// for another, so runs of one seed meet the same failures whatever the policy.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "trace/workload.h"

namespace pondage::replay {

// Jobs as they come, with limits as people state them: what `faults` says of both.
void DrawJobs(trace::Workload& workload, std::uint64_t seed);

// Machines that go and come back: the stated outages, and failures at random (exponential times
// between and to repair). A machine is away while anything keeps it away.
class Outages {
 public:
  // Machines are known by their names; stated outages of others are left out.
  Outages(const trace::Workload& workload, base::Instant first, std::uint64_t seed);

  struct Change {
    std::string machine;
    bool is_away = false;
  };
  base::Instant Next() const { return due_.empty() ? base::kNever : due_.begin()->at; }
  // When the next machine that is away comes back; kNever: none is.
  base::Instant NextReturn() const;
  // What changed up to `now`, in order; each machine that is still as it was is left out.
  std::vector<Change> Until(base::Instant now);

 private:
  struct Due {
    base::Instant at;
    std::string machine;
    bool returns = false;   // of one instant, who goes comes first
    bool is_drawn = false;  // a failure at random: the next one follows it
    auto operator<=>(const Due&) const = default;
  };
  struct Machine {
    base::Random random;
    int away = 0;  // how many outages keep it away
  };

  base::Millis Draw(const std::string& machine, base::Millis mean);

  base::Millis mtbf_, repair_;
  std::multiset<Due> due_;
  std::map<std::string, Machine> machines_;
};

}  // namespace pondage::replay
