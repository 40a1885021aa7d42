// The shell around the pool: client writes and readings in, facts to the pool, one commit, then
// acknowledge and carry out.
//
// One writer: Turn() is called from one thread only; Submit() and Tell() from any. A turn takes a
// bounded batch of inputs, applies the writes, steps the pool with the facts they mean, commits
// everything in one transaction, and only then answers the writers and orders programs about. When a
// commit fails, nothing was decided: the writers are told, and the pool is loaded anew from the store.
// Hosts: `pondage serve` (a thread), the simulator (by hand).
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fleet/node.h"
#include "manifest/queue.h"
#include "pool/pool.h"
#include "port/clock.h"
#include "port/launcher.h"
#include "port/runner.h"
#include "port/store.h"
#include "port/writer.h"

namespace pondage::loop {

struct Settings {
  pool::Settings pool;
  std::size_t batch = 256;             // inputs per turn
  std::size_t queue_bound = 20'000;    // inputs waiting
  base::Millis event_ttl{3'600'000};
  base::Millis keep_finished{0};       // 0: for ever
  std::string node_name;               // this machine
  std::string host_ip = "127.0.0.1";
};

class Loop : public port::Writer {
 public:
  Loop(Settings settings, port::Store& store, port::Runner& runner, port::Clock& clock,
       port::Launcher& launcher);
  ~Loop() override;

  // Reads what is live from the store into a new pool, adopts what runs. Before the first turn, and
  // after a failed commit.
  base::Result<void> Load();

  void Submit(port::Write write, Done done) override;
  void Tell(port::Reading reading);          // from the runner
  void See(fleet::Node node, manifest::MachineFacts machine);  // from the agent

  // One turn: at most `batch` inputs. Gives the instant by which the next turn is due even when
  // nothing comes in.
  base::Instant Turn();
  // Waits until there is input, `until` has come, or Wake().
  void AwaitInput(base::Instant until);
  void Wake();

  const pool::Pool& pool() const { return *pool_; }
  // Facts taken since the last Load, when asked to keep them: a bug report.
  void KeepFacts(bool keep);

 private:
  struct WriteInput { port::Write write; Done done; };
  struct NodeInput { fleet::Node node; manifest::MachineFacts machine; };
  using Input = std::variant<WriteInput, port::Reading, NodeInput>;
  class Round;  // round.cc: one turn's state: facts, changes, answers

  Settings settings_;
  port::Store& store_;
  port::Runner& runner_;
  port::Clock& clock_;
  port::Launcher& launcher_;
  std::unique_ptr<pool::Pool> pool_;
  bool loaded_ = false;
  base::Instant pool_wake_ = base::kNever;
  std::uint64_t event_number_ = 0;

  std::mutex mutex_;
  std::condition_variable input_;
  std::deque<Input> inputs_;
  bool woken_ = false;
};

}  // namespace pondage::loop
