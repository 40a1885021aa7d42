// The inside of a ShimRunner: what is known of each replica, and who is told.
//
// Its methods run on the reactor's thread, but for Post(), RunningNow(), Held() and limits() (any).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "run/checkpoint_watch.h"
#include "run/errands.h"
#include "run/preparer.h"
#include "run/reactor.h"
#include "run/shim_exec.h"
#include "run/shim_runner.h"
#include "run/shim_sockets.h"
#include "run/starter.h"
#include "run/touching.h"
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
        preparer_(std::make_shared<Preparer>(settings_.data_dir, settings_.bwrap)),
        starter_(settings_, *cgroups_, clock),
        theirs_({.at_most = settings_.hanging_at_most}),
        sockets_(
            reactor_,
            [this](int connection, shim::State state) { OnState(connection, std::move(state)); },
            [this](int connection) { OnClosed(connection); }),
        execs_(reactor_, sockets_, [this](const std::string& uid) { return ConnectionOf(uid); }) {
    gate_->core = this;
  }

  ~Core() {
    {
      const std::lock_guard lock(gate_->mutex);
      gate_->core = nullptr;
    }
    reactor_.Stop();
    execs_.End();
    for (const auto& [handle, child] : children_) close(handle);
  }

  void Post(std::function<void()> closure) { reactor_.Post(std::move(closure)); }

  void Listen(Sink sink) {
    sink_ = std::move(sink);
    Post([this] { PROMISE(sockets_.Listen(settings_.data_dir)); });
  }
  void Adopt(const std::vector<Known>& known);
  void Start(const std::string& uid, int start, MakeLaunch make);
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
    bool told_started = false;
    port::Started started;
    shim::Said said;
    bool settled = false;              // nothing of it runs any more
    std::optional<port::Reading> end;  // ... and that was told
    std::optional<shim::Ended> heard;  // its last words, should the file of them be missing
    std::optional<std::int64_t> stop_deadline;  // asked of it, BoottimeMs()
    std::optional<std::int64_t> kill_asked;
    bool forcing = false;  // a thread looks whether its shim does what it was asked
    // ... which it did not, and so was killed.
    std::shared_ptr<std::atomic<bool>> forced = std::make_shared<std::atomic<bool>>(false);
    bool unwanted = false;  // nobody knows it: it ends without a word
    bool erase = false;
    bool ending = false;                           // a thread kills what its shim left
    bool nothing_left = false;                     // ... and found no more
    int removals = 0;                              // of its control group, tried in vain
    std::shared_ptr<CheckpointWatch> checkpoints;  // null: no directory
    bool looking = false;                          // there, on a thread that may hang
  };
  // A start that was ordered and has not begun.
  struct Waiting {
    int start = 0;
    std::int64_t order = 0;  // tells it from others of the same replica
    MakeLaunch make;         // handed on when its turn comes
    std::int64_t since_ms = 0;
    bool told = false;  // that it takes long
    std::optional<Prepared> prepared;
  };
  // A start for which a thread works, whether it is still wanted or not.
  struct Preparing {
    std::int64_t order = 0;
    std::shared_ptr<Touched> touched;
    // Nobody wants it any more: if its thread has not begun, it is not made.
    std::shared_ptr<std::atomic<bool>> called_off;
    bool erase = false;  // when it is over
  };
  // To this, for threads that may outlive it.
  struct Gate {
    std::mutex mutex;
    Core* core = nullptr;
  };

  Replica* Find(const std::string& uid);
  void AdoptOne(const Known& known);
  void Expect(const Known& known);
  void Drop(const std::string& uid);
  void Spawned(const std::string& uid, pid_t child);
  void Reap(int handle);
  void Send(Errands& errands, Errands::Work work);
  void LookAtErrands();
  static void Return(const std::shared_ptr<Gate>& gate, std::function<void(Core&)> closure);
  void Prepare(const std::string& uid);
  void OnPrepared(const std::string& uid, base::Result<Prepared> prepared);
  void Begin(const std::string& uid, std::int64_t order, int attempt);
  void CallOff(const std::string& uid);
  void LookAtStarts();
  std::string WhatHolds(const std::string& uid) const;
  Replica& TakeOver(const std::string& uid, Replica replica);
  void OnState(int connection, shim::State state);
  void OnClosed(int connection);
  void CloseOf(Replica& replica);
  base::Result<int> ConnectionOf(const std::string& uid);
  void Attach(Replica& replica, int connection, const shim::State& state);
  void CheckEnded(const std::string& uid);
  void TellBeginning(const std::string& uid, const Replica& replica);
  port::Reading EndOf(const std::string& uid, const Replica& replica) const;
  bool EndRemnants(const std::string& uid, Replica& replica);
  void Settle(const std::string& uid, Replica& replica);
  void LookForCheckpoints(const std::string& uid, Replica& replica);
  void OnLooked(const std::string& uid, std::int64_t start, bool last,
                std::optional<port::Saved> saved);
  void TellEnd(const std::string& uid, Replica& replica);
  void AwaitEnds(const std::vector<Known>& known);
  void TellAll();
  bool Withdraw(const std::string& uid);
  void Refuse(port::NotStarted refusal);
  void Order(Replica& replica);
  void ForceWhenDue(const std::string& uid, Replica& replica);
  Replica& KillUnwanted(const std::string& uid, std::int64_t start, bool erase);
  void Tick();
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
  std::map<std::string, Waiting> waiting_;
  std::map<std::string, Preparing> preparing_;
  std::map<std::string, int> refused_;  // starts that came to nothing, until that is forgotten
  std::int64_t orders_ = 0;
  // Starts that a server before this one carried out and this one took over, not ordered again yet.
  std::map<std::string, int> begun_;
  std::map<int, shim::State> strangers_;  // connected before they were adopted
  std::map<int, pid_t> children_;         // to be waited for, by pidfd
  bool adopted_ = false;
  std::set<std::string> untold_;  // adopted, found ended, and that is still to be told
  bool ticking_ = false;
  bool watching_starts_ = false;
  bool watching_errands_ = false;
  const std::shared_ptr<Preparer> preparer_;
  Starter starter_;

  mutable std::mutex mutex_;
  std::map<std::string, Running> running_;
  std::atomic<std::size_t> held_ = 0;  // size of replicas_

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  Errands theirs_;                 // what touches paths of users, who can make it hang
  Errands ours_{{.at_most = 64}};  // what ends and removes, which must not wait behind that
  Reactor reactor_;
  ShimSockets sockets_;
  ShimExec execs_;
};

}  // namespace pondage::run
