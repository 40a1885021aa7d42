// The inside of a ShimRunner: what is known of each replica, and who is told.
//
// Its methods run on the reactor's thread, but for RunningNow(), Held() and limits() (any thread)
// and Look() (the slow one).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "run/checkpoint_watch.h"
#include "run/reactor.h"
#include "run/shim_exec.h"
#include "run/shim_runner.h"
#include "run/shim_sockets.h"
#include "run/starter.h"
#include "shim/files.h"

namespace pondage::run {

inline constexpr std::int64_t kSoonMs = 10;

class ShimRunner::Core {
 public:
  Core(RunnerSettings settings, std::unique_ptr<Cgroups> cgroups, const port::Clock& clock)
      : settings_(std::move(settings)),
        cgroups_(std::move(cgroups)),
        clock_(clock),
        limits_(cgroups_->Report()),
        boot_id_(shim::BootId()),
        starter_(settings_, *cgroups_, clock),
        sockets_(
            reactor_,
            [this](int connection, shim::State state) { OnState(connection, std::move(state)); },
            [this](int connection) { OnClosed(connection); }),
        execs_(reactor_, sockets_, [this](const std::string& uid) { return ConnectionOf(uid); }) {}

  ~Core() {
    reactor_.Stop();
    slow_.Stop();
    execs_.End();
    for (const auto& [handle, child] : children_) close(handle);
  }

  void Post(std::function<void()> closure) { reactor_.Post(std::move(closure)); }

  void Listen(Sink sink) {
    sink_ = std::move(sink);
    Post([this] { PROMISE(sockets_.Listen(settings_.data_dir)); });
  }
  void Adopt(const std::vector<Known>& known);
  void Start(const port::Launch& launch, int attempt);
  void Stop(const std::string& uid, base::Millis grace);
  void Kill(const std::string& uid);
  void Forget(const std::string& uid, int start);
  void Erase(const std::string& uid);

  std::vector<Running> RunningNow() const {
    const std::lock_guard lock(mutex_);
    std::vector<Running> running;
    running.reserve(running_.size());
    for (const auto& [uid, one] : running_) running.push_back(one);
    return running;
  }
  std::size_t Held() const { return held_; }
  const LimitsReport& limits() const { return limits_; }
  port::Exec& execs() { return execs_; }

 private:
  struct Replica {
    std::int64_t start = 0;
    int connection = -1;
    std::int64_t shim_pid = 0;
    std::int64_t shim_level = 0;
    bool ours = false;  // started by this server
    bool told_started = false;
    port::Started started;
    shim::Said said;
    bool settled = false;  // it has ended and that was told
    std::optional<port::Reading> end;
    std::optional<shim::Ended> heard;  // its last words, should the file of them be missing
    std::optional<std::int64_t> stop_deadline;  // asked of it, BoottimeMs()
    bool kill = false;
    bool unwanted = false;  // nobody knows it: it ends without a word
    bool erase = false;
    int removals = 0;  // of its control group, tried in vain
    std::string checkpoint_dir;
    std::optional<Rights> rights;  // to look there
  };

  Replica* Find(const std::string& uid);
  void AdoptOne(const Known& known);
  void Expect(const Known& known);
  void Drop(const std::string& uid);
  void Spawned(const std::string& uid, pid_t child);
  void Reap(int handle);
  void LookThenStart(const port::Launch& launch);
  Replica& TakeOver(const std::string& uid, Replica replica, bool was_running);
  void OnState(int connection, shim::State state);
  void OnClosed(int connection);
  void CloseOf(Replica& replica);
  base::Result<int> ConnectionOf(const std::string& uid);
  void Attach(Replica& replica, int connection, const shim::State& state);
  void CheckEnded(const std::string& uid);
  port::Reading EndOf(const std::string& uid, const Replica& replica) const;
  bool EndRemnants(const std::string& uid, Replica& replica);
  void Settle(const std::string& uid, Replica& replica);
  bool Withdraw(const std::string& uid);
  void Order(Replica& replica);
  void Tick();
  void Look();
  void Watch(const std::string& uid, const std::string& directory, bool report_present,
             const std::optional<Rights>& rights);  // on the slow thread
  void Unwatch(const port::Launch& launch);
  void Emit(port::Reading reading) { sink_(std::move(reading)); }
  void NoteRunning(const std::string& uid, const Replica& replica);

  RunnerSettings settings_;
  std::unique_ptr<Cgroups> cgroups_;
  const port::Clock& clock_;
  LimitsReport limits_;
  std::string boot_id_;
  Sink sink_;

  // On the reactor's thread.
  std::map<std::string, Replica> replicas_;
  std::map<std::string, port::Launch>
      waiting_;  // starts that wait for a look or for the shim before them
  // Starts that a server before this one carried out and this one took over, not ordered again yet.
  std::map<std::string, int> begun_;
  std::map<int, shim::State> strangers_;  // connected before they were adopted
  std::map<int, pid_t> children_;         // to be waited for, by pidfd
  bool adopted_ = false;
  bool ticking_ = false;
  Starter starter_;

  // On the slow thread.
  CheckpointWatch checkpoints_;
  bool looking_ = false;

  mutable std::mutex mutex_;
  std::map<std::string, Running> running_;
  std::atomic<std::size_t> held_ = 0;  // size of replicas_

  Reactor reactor_;
  Reactor slow_;
  ShimSockets sockets_;
  ShimExec execs_;
};

}  // namespace pondage::run
