// The shell around the pool: client writes and readings in, facts to the pool, one commit, then
// acknowledge and carry out.
//
// One writer: Turn() is called from one thread only; Submit(), Tell(), See() and Wake() from any. A
// turn takes a bounded batch of inputs, applies the writes, steps the pool with the facts they
// mean, commits everything in one transaction, and only then answers the writers and orders
// programs about. When a commit fails nothing was decided: the writers are told, and the pool is
// loaded anew. Hosts: `pondage serve` (a thread), the simulator (by hand).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fleet/node.h"
#include "loop/numbers.h"
#include "loop/set_aside.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"
#include "pool/pool.h"
#include "port/clock.h"
#include "port/launcher.h"
#include "port/runner.h"
#include "port/store.h"
#include "port/writer.h"

namespace pondage::loop {

struct Settings {
  pool::Settings pool;
  std::size_t batch = 256;           // inputs per turn
  std::size_t queue_bound = 20'000;  // inputs waiting; a write beyond it is refused
  base::Millis event_ttl{3'600'000};
  // Finished jobs without a TTL of their own; the oldest go first. None: for ever, however many.
  std::optional<base::Millis> keep_finished;
  std::optional<std::int64_t> keep_finished_count;
  std::string node_name = "localhost";  // this machine
  std::string host_ip = "127.0.0.1";
};

// After the store failed.
inline constexpr base::Millis kRetry{1'000};

// Finished jobs that the server's retention is about are due, in the store, at the end of time: as
// far behind it as their completion is behind 1970. So an index finds the oldest of them.
inline constexpr base::Instant kEndOfTime{std::int64_t{1} << 52};

class Loop : public port::Writer {
 public:
  Loop(Settings settings, port::Store& store, port::Runner& runner, port::Clock& clock,
       std::shared_ptr<port::Launcher> launcher);

  // Reads what is live from the store into a new pool and takes over what runs. Turn() does it by
  // itself when needed; a host calls it first to see the error.
  base::Result<void> Load();

  void Submit(port::Write write, Done done) override;
  void Tell(port::Reading reading);                            // from the runner
  void See(fleet::Node node, manifest::MachineFacts machine);  // from the agent

  // One turn: at most `batch` inputs. Gives the instant by which the next turn is due even when
  // nothing comes in (now, when inputs are left).
  base::Instant Turn();
  // Waits until there is input, Wake(), or the clock's time may have reached `until`.
  void AwaitInput(base::Instant until);
  void Wake();

  // Counts on this page from now on; before the first turn. The page outlives the loop.
  void CountOn(metrics::Page& page) { numbers_ = std::make_unique<Numbers>(page); }

  // On the loop's thread only.
  const pool::Pool& pool() const { return *pool_; }
  bool loaded() const { return loaded_; }

  // Stored objects that cannot be read or understood, a sentence each. Any thread.
  std::vector<std::string> Unreadable() const { return set_aside_.Texts(); }

 private:
  friend class Turner;  // turn.h: the state of one turn
  struct WriteInput {
    port::Write write;
    Done done;
  };
  struct NodeInput {
    fleet::Node node;
    manifest::MachineFacts machine;
  };
  struct Ownerless {
    std::string uid;  // of an owner that went
    bool orphan = false;
  };
  using Input = std::variant<WriteInput, port::Reading, NodeInput>;

  // A PersistentVolumeClaim on its way out: nobody new may use it.
  enum class Leaving : std::uint8_t {
    kUnknown,  // whether anybody still uses it
    kUsed,     // until a Pod or a job of its namespace changes
    kOrdered,  // in this turn, that its data goes
    kDropped,  // its data is gone, and its object goes next
  };

  void Push(Input input);
  void Rest(std::string_view what, const base::Error& error);
  void Complain(std::string_view what, const base::Error& error);
  void RefuseWrites(const base::Error& error);
  std::vector<Input> TakeInputs();
  base::Result<void> LoadEach(
      const std::string& kind,
      const std::function<base::Result<void>(const port::Object&)>& understand);
  base::Result<void> LoadRest(std::vector<pool::Fact>& facts);
  base::Result<void> LoadJobs(std::vector<pool::Fact>& facts);
  base::Result<void> LoadPlanning(std::vector<pool::Fact>& facts);
  base::Result<void> LoadLacks(std::vector<pool::Fact>& facts);
  base::Result<void> LoadKept(std::vector<pool::Fact>& facts);
  base::Result<void> SetLostAside();
  base::Result<void> FinishLoad(const std::vector<pool::Fact>& facts);
  base::Result<void> TakeOver();
  void RepeatStops();
  void Launch(const std::string& uid, const std::string& pod_body, int start);
  base::Instant FindNextDue();
  base::Instant FindNextExpiry();
  bool KeepsTooMany() const {
    return settings_.keep_finished_count && kept_ > *settings_.keep_finished_count;
  }
  manifest::PriorityOf Priorities() const;

  const Settings settings_;
  port::Store& store_;
  port::Runner& runner_;
  port::Clock& clock_;
  const std::shared_ptr<port::Launcher> launcher_;  // with starts that are being prepared

  std::unique_ptr<Numbers> numbers_;  // none: nothing is counted

  // The loop's own memory: derived from the store at Load.
  std::unique_ptr<pool::Pool> pool_;
  bool loaded_ = false;
  // Facts that the last turn's decisions brought about, and that are durable with them.
  std::vector<pool::Fact> noted_;
  base::Instant pool_wake_ = base::kNever;
  base::Instant due_ = base::kNever;     // of the store's next due object
  base::Instant expiry_ = base::kNever;  // of the oldest finished job that is kept, by age
  std::int64_t kept_ = 0;                // finished jobs without a TTL of their own
  std::set<port::Key> lost_;             // ... that turned out unreadable: not counted
  std::vector<Ownerless> ownerless_;     // owners that went whose dependents could not all be read
  base::Instant look_again_ = base::kNever;
  SetAside set_aside_;
  std::map<std::string, base::ReplicaId, std::less<>> pods_;  // Pods that exist, by uid
  std::map<base::JobId, std::vector<job::Replica>> shown_;    // replicas as their Pods show them
  std::map<std::string, int, std::less<>> priorities_;        // PriorityClass by name
  std::map<port::Key, base::JobId> jobs_;                     // the pool's jobs by key
  std::set<std::string> terminating_;                         // namespaces being deleted
  std::map<port::Key, Leaving> leaving_claims_;               // ... and claims
  std::set<std::string> ended_spaces_;                        // ... and deleted since the start
  base::Instant queue_due_ = base::kNever;                    // when queues show their numbers next
  std::string store_trouble_;                                 // said once, not every second

  std::mutex mutex_;
  std::condition_variable input_;
  std::deque<Input> inputs_;
  bool woken_ = false;
  bool resting_ = false;  // the store failed: input waits too
};

}  // namespace pondage::loop
