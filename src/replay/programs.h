// The programs of a workload's jobs in virtual time: gangs that run as long as their work takes on
// the machines they got, and leave at once when asked to, with what they saved.
//
// A face of port::Runner; one thread, driven by Player. What happened to every job is written down
// here, from the programs' side: the report does not rest on the pool's own claims.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "port/clock.h"
#include "port/runner.h"
#include "report/run.h"
#include "trace/workload.h"

namespace pondage::replay {

// A job of the workload as it is played: cut to machines, under a name that is a DNS label.
struct Part {
  const trace::Job* job = nullptr;
  int members = 0;  // that must run before the gang does
  int fewest_machines = 1;
};

class Programs : public port::Runner {
 public:
  Programs(const port::Clock& clock, const trace::Workload& workload, std::vector<Part> parts);

  void Listen(Sink sink) override { sink_ = std::move(sink); }
  void Adopt(const std::vector<Known>& known) override;
  void Start(const std::string& uid, int start, MakeLaunch make) override;
  void Stop(const std::string& uid, base::Millis grace) override;
  void Kill(const std::string& uid) override;
  void Forget(const std::string& uid, int start) override;
  void Erase(const std::string&) override {}

  base::Instant NextEvent() const { return events_.empty() ? base::kNever : events_.top().at; }
  void Advance(base::Instant now);  // every end up to `now`

  std::size_t finished() const { return finished_; }
  std::size_t running() const { return running_; }
  // What became of part i, as far as it went.
  const report::Job& Record(std::size_t i) const { return states_[i].record; }

 private:
  struct Program {
    std::size_t part = 0;
    std::string node;
    int start = 0;
  };
  struct State {
    report::Job record;
    std::map<std::string, std::string> alive;  // node by uid
    base::Millis done;                         // of its duration, kept over starts
    int starts = 0;
    std::optional<base::Instant> steps_from;  // since when the whole gang makes steps
    base::Millis takes;                       // all of it at the speed of these machines
    std::uint64_t generation = 0;             // an end of an older one is void
  };
  struct End {
    base::Instant at;
    std::size_t part;
    std::uint64_t generation;
    bool operator>(const End& other) const {
      return std::tie(at, part, generation) > std::tie(other.at, other.part, other.generation);
    }
  };

  void Assemble(std::size_t part);
  base::Millis Takes(std::size_t part) const;
  void Interrupt(State& state, bool saved);
  void Leave(std::string uid, int code, const char* reason);

  const port::Clock& clock_;
  const trace::Policy policy_;
  Sink sink_;
  std::vector<Part> parts_;
  std::vector<State> states_;
  std::map<std::string, std::string> type_of_;  // GPU type by machine
  std::map<std::string, Program> programs_;     // alive, by uid
  std::priority_queue<End, std::vector<End>, std::greater<>> events_;
  std::size_t finished_ = 0;
  std::size_t running_ = 0;
};

// The program's number among the parts, from the name that Player gave its job ("default/j17").
std::optional<std::size_t> PartOf(const std::string& job);

}  // namespace pondage::replay
