// A small world in virtual time: the real loop and pool, a store in memory, a modelled machine.
//
// One thread. Everything that happens in it is decided by its inputs and its seed: the same twice
// gives the same decisions and the same bytes.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "fleet/node.h"
#include "ledger/ledger.h"
#include "loop/loop.h"
#include "port/clock.h"
#include "port/faulty_store.h"
#include "port/forward_clock.h"
#include "port/memory_store.h"
#include "sim/machine.h"

namespace pondage::sim {

// A TFJob as a scenario writes it.
struct JobPlan {
  std::string name;
  std::map<base::Role, int> replicas;
  int gpus = 0;  // of each worker (and of a chief or master without workers)
  std::string restart = "Never";
  std::string clean;
  std::string queue;
  std::optional<int> backoff;
  std::optional<std::int64_t> deadline_s, ttl_s, min_available;
  std::map<std::string, std::string> annotations;
  std::int64_t grace_s = 30;
  bool suspend = false;
  bool dynamic_worker = false;
  bool all_workers = false;  // successPolicy AllWorkers
  Script script;
};

class World {
 public:
  explicit World(std::uint64_t seed, bool faulty_store = false);

  void AddNode(fleet::Node node);
  base::Result<void> AddQueue(const std::string& name, const std::string& parent, int guarantee,
                              std::optional<int> limit);
  base::Result<void> Apply(const JobPlan& plan);
  base::Result<void> Delete(const std::string& kind, const std::string& name);
  base::Result<void> SetSuspend(const std::string& job, bool suspend);
  base::Result<void> SetReplicas(const std::string& job, base::Role role, int replicas);
  // Changes an object as it is stored, as a client's update does.
  base::Result<void> Edit(const std::string& kind, const std::string& name,
                          const std::function<void(boost::json::object&)>& edit);
  bool Strike(const std::string& job, const std::string& replica, int code);
  void CrashServer();  // the loop goes, programs stay; a new loop loads and adopts
  void LosePower();    // programs go too
  // The wall's clock is set, by so much. The server's own and the programs go on.
  void SetClock(base::Millis by);
  void FairWeather();  // the store fails no more, and starts take no time
  // How long each start is prepared before its program runs.
  void HamperStarts(std::function<base::Millis()> preparing) {
    machine_.Hamper(std::move(preparing));
  }

  base::Instant now() const { return clock_.Now(); }
  // Lets time pass, event by event; calls `each` after every turn.
  void Pass(base::Millis length, const std::function<void()>& each = [] {});
  // The instant of the next event; kNever when nothing will happen by itself.
  base::Instant NextEvent() const;

  const pool::Pool& pool() const { return loop_->pool(); }
  // Whether what the pool holds is what is stored: not after a commit that failed.
  bool IsStored() const { return loop_->loaded(); }
  const Machine& machine() const { return machine_; }
  // An object of namespace "default" (or cluster scope) as stored.
  std::optional<boost::json::object> Stored(const std::string& kind, const std::string& name) const;
  // One line for people: "a  Running  n1:0,1 n2:0".
  std::string Line(const std::string& job) const;
  // Broken laws of pool and machine together; empty when all hold.
  std::vector<std::string> BrokenLaws() const;
  // What the ledger says, oldest first: closed charges.
  std::vector<ledger::Entry> Charges() const;
  // Every object and ledger line: two runs of one seed must agree to the byte.
  std::string Everything() const;

 private:
  void MakeLoop();
  void Turn();
  base::Result<void> Write(port::Write write);

  port::ManualClock clock_;  // true time
  base::Millis wall_ahead_{0};
  std::unique_ptr<port::ForwardClock> server_clock_;
  base::Random random_;
  port::MemoryStore memory_;
  std::unique_ptr<port::FaultyStore> faulty_;
  Machine machine_;
  const std::shared_ptr<PlainLauncher> launcher_ = std::make_shared<PlainLauncher>();
  std::map<std::string, Script> scripts_;  // by "namespace/job"
  std::unique_ptr<loop::Loop> loop_;
  base::Instant due_{0};  // by the server's clock
};

}  // namespace pondage::sim
