// The programs of a workload's jobs in virtual time: gangs that run as long as their work takes on
// the machines they got, and leave when asked to, after saving; without notice they lose what was
// done since their last checkpoint.
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
  std::string name;
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

  base::Instant NextEvent() const;
  void Advance(base::Instant now);  // every end and every exit up to `now`
  // All programs on this machine are gone, without notice.
  void LoseMachine(const std::string& machine);

  std::size_t finished() const { return finished_; }
  std::size_t running() const { return running_; }
  // A job that was interrupted so often that it will hardly ever end; none: all get on.
  const trace::Job* Hopeless() const { return hopeless_; }
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
    int interruptions = 0;
    std::optional<base::Instant> steps_from;  // since when the whole gang makes steps
    base::Millis kept;                        // of the present stay, time whose steps count
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
  // True: the whole gang was making steps.
  bool Interrupt(std::size_t part, bool saved);
  void Leave(std::string uid, int code, const char* reason);

  const port::Clock& clock_;
  const trace::Policy policy_;
  Sink sink_;
  std::vector<Part> parts_;
  std::vector<State> states_;
  std::map<std::string, std::string> type_of_;  // GPU type by machine
  std::map<std::string, std::size_t> part_of_;  // by "default/NAME"
  std::map<std::string, Program> programs_;     // alive, by uid
  std::priority_queue<End, std::vector<End>, std::greater<>> events_;
  std::map<std::pair<base::Instant, std::string>, int> saving_;  // who leaves when, and its code
  const trace::Job* hopeless_ = nullptr;
  std::size_t finished_ = 0;
  std::size_t running_ = 0;
};

}  // namespace pondage::replay
