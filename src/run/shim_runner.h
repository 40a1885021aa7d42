// The runner of real processes: a shim for each replica, which outlives this server.
//
// Thread rule: port::Runner's; Running() and Limits() from any thread. Calls are queued for one
// thread of its own, which starts shims, talks to them and reads what they left on disk, and which
// touches no path of a user's: what may hang (preparing starts, looking for checkpoints, removing
// directories) is done on further threads, for which the destructor waits a second or two at most.
// Invariants:
//   1. A replica is alive exactly as long as its lock is held; that is asked, never guessed.
//   2. What is known after a restart is what the directories say; memory only saves asking, and
//      holds nothing of what has ended and was forgotten.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "port/clock.h"
#include "port/exec.h"
#include "port/runner.h"
#include "run/cgroups.h"

namespace pondage::run {

struct RunnerSettings {
  std::string data_dir;
  std::string shim;             // path of pondage-shim
  std::string bwrap = "bwrap";  // path or name of bubblewrap, for replicas with mounts
  // How long a start may be prepared before that is told of, and before it is given up.
  std::int64_t tell_after_ms = 5'000;
  std::int64_t give_up_after_ms = 120'000;
  // How many threads the file systems of users may take at most.
  std::size_t hanging_at_most = 256;
  // How long the end of a replica waits for the last look into its checkpoint directory.
  std::int64_t last_look_ms = 10'000;
  // How long after a deadline a shim may take before the server ends its replica itself: one that
  // was stopped or is not heard of, and one that is at work.
  std::int64_t stopped_ms = 5'000;
  std::int64_t working_ms = 20'000;
};

// A replica whose program runs.
struct Running {
  std::string uid;
  int start = 0;
  std::int64_t shim_pid = 0;
  std::int64_t pid = 0;
  port::Said said;
};

class ShimRunner : public port::Runner {
 public:
  ShimRunner(RunnerSettings settings, std::unique_ptr<Cgroups> cgroups, const port::Clock& clock);
  ~ShimRunner() override;  // replicas run on

  void Listen(Sink sink) override;
  void Adopt(const std::vector<Known>& known) override;
  void Start(const std::string& uid, int start, MakeLaunch make) override;
  void Stop(const std::string& uid, base::Millis grace) override;
  void Kill(const std::string& uid) override;
  void Forget(const std::string& uid, int start) override;
  void Erase(const std::string& uid) override;

  // Further programs inside what runs here; not to be used once this is gone.
  port::Exec& Execs();
  std::vector<Running> RunningNow() const;
  // How many are held in memory: those that run, and those whose end was not taken yet.
  std::size_t Held() const;
  LimitsReport Limits() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace pondage::run
