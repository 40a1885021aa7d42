#include "run/shim_runner.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "run/checkpoint_watch.h"
#include "run/reactor.h"
#include "run/remnants.h"
#include "run/replica_dir.h"
#include "run/shim_exec.h"
#include "run/shim_sockets.h"
#include "run/starter.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

constexpr std::int64_t kTickMs = 1000;
constexpr std::int64_t kSoonMs = 10;
constexpr int kLockAttempts = 1000;  // of kSoonMs: how long a start waits for the shim before it
constexpr int kRemovals = 200;       // ... of kSoonMs: how long what was killed may take to be gone
constexpr std::size_t kErrorLimit = 4096;

port::Said Reading(const shim::State& state) {
  port::Said said;
  said.uid = state.uid;
  said.start = static_cast<int>(state.start);
  said.step = state.said.step;
  said.checkpoint_step = state.said.checkpoint_step;
  said.checkpoint_path = state.said.checkpoint_path;
  said.input_wait_permille = state.said.input_wait_permille;
  said.at = base::Instant{state.said_unix_ms};
  return said;
}

port::Reading Reading(const shim::Ended& ended) {
  const auto start = static_cast<int>(ended.start);
  if (ended.reason == "StartFailed") {
    port::NotStarted refusal{ended.uid, start, ended.message, {}};
    refusal.not_found = ended.code == 127;
    refusal.not_executable = ended.code == 126;
    refusal.id = ended.id;
    return refusal;
  }
  return port::Exited{ended.uid,
                      start,
                      static_cast<int>(ended.code),
                      ended.reason,
                      ended.message,
                      base::Instant{ended.at_unix_ms},
                      ended.at_boottime_ms,
                      ended.boot_id};
}

std::string FirstLine(const std::string& path) {
  const std::string text = shim::ReadFile(path, kErrorLimit).value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace

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
  };

  Replica* Find(const std::string& uid);
  void AdoptOne(const Known& known);
  void Drop(const std::string& uid);
  void Spawned(const std::string& uid, pid_t child);
  void Reap(int handle);
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
  std::map<std::string, port::Launch> waiting_;  // starts that wait for the shim before them
  std::map<int, shim::State> strangers_;         // connected before they were adopted
  std::map<int, pid_t> children_;                // to be waited for, by pidfd
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

ShimRunner::Core::Replica* ShimRunner::Core::Find(const std::string& uid) {
  const auto found = replicas_.find(uid);
  return found == replicas_.end() ? nullptr : &found->second;
}

// ---- starting

void ShimRunner::Core::Start(const port::Launch& launch, int attempt) {
  if (attempt > 0 && !waiting_.contains(launch.uid)) return;  // it was stopped meanwhile
  if (!ReplicaDir::IsName(launch.uid)) {
    Emit(port::NotStarted{launch.uid, launch.start, "its uid is no name", {}});
    return;
  }
  const Replica* known = Find(launch.uid);
  if (known != nullptr && known->start >= launch.start) return;
  const ReplicaDir directory(settings_.data_dir, launch.uid);
  if (known == nullptr) {
    if (const auto spec = directory.ReadSpec(); spec && spec->start >= launch.start) {
      if (directory.IsTaken(launch.start)) return;
      AdoptOne({launch.uid, launch.start, launch.checkpoint_dir});  // it was started before
      return;
    }
  } else if (!known->settled) {
    CheckEnded(launch.uid);  // the start before this one must be told of first
  }
  known = Find(launch.uid);
  const bool made = directory.Make();
  Descriptor lock =
      made && (known == nullptr || known->settled) ? directory.TakeLock() : Descriptor();
  if (!lock && made && attempt < kLockAttempts) {
    waiting_[launch.uid] = launch;
    reactor_.After(kSoonMs, [this, launch, attempt] { Start(launch, attempt + 1); });
    return;
  }
  waiting_.erase(launch.uid);
  if (!lock) {
    Emit(port::NotStarted{
        launch.uid, launch.start, "its directory " + directory.path() + " is in use", {}});
    return;
  }
  auto outcome = starter_.Start(launch, std::move(lock));
  if (auto* const refusal = std::get_if<port::NotStarted>(&outcome)) {
    Emit(std::move(*refusal));
    return;
  }
  Replica replica;
  replica.start = launch.start;
  replica.ours = true;
  replica.checkpoint_dir = launch.checkpoint_dir;
  TakeOver(launch.uid, std::move(replica), false);
  Spawned(launch.uid, std::get<pid_t>(outcome));
}

ShimRunner::Core::Replica& ShimRunner::Core::TakeOver(const std::string& uid, Replica replica,
                                                      bool was_running) {
  if (!replica.checkpoint_dir.empty()) {
    slow_.Post([this, uid, directory = replica.checkpoint_dir, was_running] {
      checkpoints_.Watch(uid, directory, was_running);
      if (!std::exchange(looking_, true)) slow_.After(kTickMs, [this] { Look(); });
    });
  }
  if (!std::exchange(ticking_, true)) reactor_.After(kTickMs, [this] { Tick(); });
  Replica& taken = replicas_[uid] = std::move(replica);
  held_ = replicas_.size();
  return taken;
}

void ShimRunner::Core::Drop(const std::string& uid) {
  replicas_.erase(uid);
  held_ = replicas_.size();
}

void ShimRunner::Core::Spawned(const std::string& uid, pid_t child) {
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) return;  // not waited for: a zombie until this server ends
  children_[handle] = child;
  reactor_.Watch(handle, [this, uid, handle] {
    Reap(handle);
    CheckEnded(uid);
  });
}

void ShimRunner::Core::Reap(int handle) {
  const auto found = children_.find(handle);
  if (found == children_.end() || waitpid(found->second, nullptr, WNOHANG) == 0) return;
  children_.erase(found);
  reactor_.Unwatch(handle);
  close(handle);
}

// ---- what shims say

void ShimRunner::Core::OnState(int connection, shim::State state) {
  Replica* const replica = Find(state.uid);
  if (replica != nullptr && !replica->settled && replica->start == state.start) {
    Attach(*replica, connection, state);
    execs_.OnEnded(connection, state.execs_ended);
    return;
  }
  if (!adopted_ && replica == nullptr && ReplicaDir::IsName(state.uid)) {
    strangers_[connection] = std::move(state);
    return;
  }
  // The last words of a shim that has ended may come when nothing of it is held any more.
  if (replica != nullptr || !ReplicaDir::IsName(state.uid) ||
      !ReplicaDir(settings_.data_dir, state.uid).IsLocked()) {
    sockets_.Close(connection);
    return;
  }
  Replica unwanted;
  unwanted.start = state.start;
  unwanted.shim_pid = state.shim_pid;
  unwanted.unwanted = unwanted.erase = unwanted.kill = true;
  Attach(TakeOver(state.uid, std::move(unwanted), true), connection, state);
}

void ShimRunner::Core::Attach(Replica& replica, int connection, const shim::State& state) {
  replica.shim_pid = state.shim_pid;
  replica.shim_level = state.level;
  if (state.ended) replica.heard = state.ended;
  if (replica.connection != connection) {
    CloseOf(replica);
    replica.connection = connection;
    Order(replica);
  }
  if (replica.unwanted) return;
  const bool speaks = state.said != replica.said;
  replica.said = state.said;
  if (state.pid > 0 && !replica.told_started) {
    replica.told_started = true;
    replica.started = {
        state.uid, static_cast<int>(state.start), state.pid, {state.started_unix_ms}};
    Emit(replica.started);
  }
  NoteRunning(state.uid, replica);
  if (speaks) Emit(Reading(state));
}

void ShimRunner::Core::CloseOf(Replica& replica) {
  if (replica.connection < 0) return;
  execs_.OnClosed(replica.connection);
  sockets_.Close(std::exchange(replica.connection, -1));
}

base::Result<int> ShimRunner::Core::ConnectionOf(const std::string& uid) {
  const Replica* const replica = Find(uid);
  if (replica == nullptr || replica->settled || replica->unwanted)
    return base::Fail(base::Kind::kNotFound, "", uid, "does not run on this machine");
  if (replica->connection >= 0 && replica->shim_level < shim::kExecLevel) {
    return base::Fail(base::Kind::kUnavailable, "", uid,
                      "was started by an older version, which can run nothing more in it");
  }
  return replica->connection;
}

void ShimRunner::Core::OnClosed(int connection) {
  strangers_.erase(connection);
  execs_.OnClosed(connection);
  for (auto& [uid, replica] : replicas_) {
    if (replica.connection != connection) continue;
    replica.connection = -1;
    CheckEnded(std::string(uid));
    return;
  }
}

void ShimRunner::Core::Order(Replica& replica) {
  if (replica.connection < 0 || replica.settled) return;
  shim::Command command;
  command.kill = replica.kill;
  if (replica.stop_deadline)
    command.stop_grace_ms = std::max<std::int64_t>(0, *replica.stop_deadline - BoottimeMs());
  if (command == shim::Command{}) return;
  sockets_.Send(replica.connection, command);
}

// ---- ends

void ShimRunner::Core::CheckEnded(const std::string& uid) {
  Replica* const replica = Find(uid);
  if (replica == nullptr || replica->settled) return;
  if (ReplicaDir(settings_.data_dir, uid).IsLocked()) {
    // It closes its files one by one, or it lost only the connection: the tick looks again.
    if (replica->connection < 0)
      reactor_.After(kSoonMs, [this, uid, start = replica->start] {
        const Replica* const again = Find(uid);
        if (again != nullptr && again->start == start && !again->settled &&
            !ReplicaDir(settings_.data_dir, uid).IsLocked()) {
          CheckEnded(uid);
        }
      });
    return;
  }
  Settle(uid, *replica);
}

port::Reading ShimRunner::Core::EndOf(const std::string& uid, const Replica& replica) const {
  const ReplicaDir directory(settings_.data_dir, uid);
  if (const auto ended = directory.ReadExit(replica.start)) return Reading(*ended);
  if (replica.heard) return Reading(*replica.heard);  // the disk was full
  const auto start = static_cast<int>(replica.start);
  const auto spec = directory.ReadSpec();
  const bool this_start = spec && spec->start == replica.start;
  const std::string said = this_start ? FirstLine(directory.File("shim.err")) : "";
  if (!replica.told_started && !said.empty()) return port::NotStarted{uid, start, said, {}};
  port::Exited lost;
  lost.uid = uid;
  lost.start = start;
  lost.code = 137;
  lost.reason = "Lost";
  if (!this_start) {
    lost.message = "nothing is known of it on this machine";
  } else if (spec->boot_id != boot_id_) {
    lost.message = "the machine was restarted while it ran";
  } else if (!replica.told_started && !directory.HasBegun(start)) {
    lost.message = "the server ended before its shim had begun";
  } else {
    // Whoever killed it, the machine did not fail: a program that does it may not gain by it.
    lost.reason = "Error";
    lost.message = "its shim was killed";
  }
  lost.at = clock_.Now();
  lost.at_monotonic_ms = BoottimeMs();
  lost.boot_id = boot_id_;
  return lost;
}

// Of a shim that could not do it. False: not yet, and it is tried again: until then the replica
// holds what it was given.
bool ShimRunner::Core::EndRemnants(const std::string& uid, Replica& replica) {
  const auto spec = ReplicaDir(settings_.data_dir, uid).ReadSpec();
  if (!spec || spec->boot_id != boot_id_) return true;  // none of it can be there
  cgroups_->Kill(uid);
  if (!KillRemnants(uid)) return false;
  // Who hid its mark is still in its group. A group that it divided is never empty: not for ever.
  if (cgroups_->Remove(uid) || ++replica.removals > kRemovals) return true;
  reactor_.After(kSoonMs, [this, uid] { CheckEnded(uid); });
  return false;
}

void ShimRunner::Core::Settle(const std::string& uid, Replica& replica) {
  const ReplicaDir directory(settings_.data_dir, uid);
  if (!directory.ReadExit(replica.start) && !EndRemnants(uid, replica)) return;
  cgroups_->Remove(uid);
  replica.settled = true;
  replica.end = EndOf(uid, replica);
  const auto ended = directory.ReadExit(replica.start);
  if (replica.ours && !replica.told_started && ended && ended->pid > 0) {
    // So short a life that it was over before its shim was heard.
    Emit(port::Started{uid, static_cast<int>(ended->start), ended->pid,
                       base::Instant{ended->started_unix_ms}});
  }
  CloseOf(replica);
  {
    const std::lock_guard lock(mutex_);
    running_.erase(uid);
  }
  if (!replica.checkpoint_dir.empty()) {
    slow_.Post([this, uid, end = *replica.end, silent = replica.unwanted] {
      auto saved = checkpoints_.LastLook(uid);
      if (silent) return;
      if (saved) Emit(*std::move(saved));
      Emit(end);
    });
  } else if (!replica.unwanted) {
    Emit(*replica.end);
  }
  if (replica.erase) {
    Erase(uid);
  } else if (std::holds_alternative<port::NotStarted>(*replica.end)) {
    Drop(uid);  // nobody forgets what never was; asked again, its directory answers
  }
}

void ShimRunner::Core::Tick() {
  std::vector<std::string> uids;
  bool alive = false;
  for (auto& [uid, replica] : replicas_) {
    if (replica.settled) continue;
    alive = true;
    Order(replica);  // again: the socket may have been full
    if (replica.connection < 0) uids.push_back(uid);
  }
  for (const std::string& uid : uids) CheckEnded(uid);
  ticking_ = alive;
  if (alive) reactor_.After(kTickMs, [this] { Tick(); });
}

void ShimRunner::Core::Look() {
  for (port::Saved& saved : checkpoints_.Look()) Emit(std::move(saved));
  looking_ = !checkpoints_.empty();
  if (looking_) slow_.After(kTickMs, [this] { Look(); });
}

void ShimRunner::Core::NoteRunning(const std::string& uid, const Replica& replica) {
  if (!replica.told_started) return;
  Running running{uid, static_cast<int>(replica.start), replica.shim_pid, replica.started.pid, {}};
  running.said.step = replica.said.step;
  running.said.checkpoint_step = replica.said.checkpoint_step;
  running.said.checkpoint_path = replica.said.checkpoint_path;
  running.said.input_wait_permille = replica.said.input_wait_permille;
  const std::lock_guard lock(mutex_);
  running_[uid] = std::move(running);
}

// ---- taking over

void ShimRunner::Core::Adopt(const std::vector<Known>& known) {
  for (const Known& one : known) AdoptOne(one);
  adopted_ = true;
  std::map<int, shim::State> strangers;
  strangers.swap(strangers_);
  for (auto& [connection, state] : strangers) OnState(connection, std::move(state));
}

void ShimRunner::Core::AdoptOne(const Known& known) {
  if (!ReplicaDir::IsName(known.uid)) return;
  if (const Replica* const replica = Find(known.uid);
      replica != nullptr && replica->start >= known.start) {
    // Asked again without a restart: the same answer.
    if (replica->end) {
      Emit(*replica->end);
    } else if (replica->told_started) {
      Emit(replica->started);
    }
    return;
  }
  const auto spec = ReplicaDir(settings_.data_dir, known.uid).ReadSpec();
  Replica replica;
  replica.start = spec ? std::max<std::int64_t>(spec->start, known.start) : known.start;
  replica.checkpoint_dir =
      spec && !spec->checkpoint_dir.empty() ? spec->checkpoint_dir : known.checkpoint_dir;
  TakeOver(known.uid, std::move(replica), true);
  CheckEnded(known.uid);
}

// ---- orders

// True when the start was still waiting, and now never comes.
bool ShimRunner::Core::Withdraw(const std::string& uid) {
  const auto waiting = waiting_.extract(uid);
  if (!waiting) return false;
  Emit(port::NotStarted{uid, waiting.mapped().start, "it was stopped before it started", {}});
  return true;
}

void ShimRunner::Core::Stop(const std::string& uid, base::Millis grace) {
  Replica* const replica = Find(uid);
  if (Withdraw(uid) || replica == nullptr || replica->settled) return;
  const std::int64_t deadline = BoottimeMs() + std::max<std::int64_t>(0, grace.value);
  replica->stop_deadline = std::min(replica->stop_deadline.value_or(deadline), deadline);
  Order(*replica);
}

void ShimRunner::Core::Kill(const std::string& uid) {
  Replica* const replica = Find(uid);
  if (Withdraw(uid) || replica == nullptr || replica->settled) return;
  replica->kill = true;
  Order(*replica);
}

void ShimRunner::Core::Forget(const std::string& uid, int start) {
  const Replica* const replica = Find(uid);
  if (replica == nullptr || !replica->settled || replica->start != start) return;
  ReplicaDir(settings_.data_dir, uid).Take(start);
  Drop(uid);
}

void ShimRunner::Core::Erase(const std::string& uid) {
  if (!ReplicaDir::IsName(uid)) return;
  const ReplicaDir directory(settings_.data_dir, uid);
  Replica* const replica = Find(uid);
  if (replica != nullptr && !replica->settled) {
    replica->erase = true;
    return;
  }
  if (replica == nullptr && directory.IsLocked()) return;
  Drop(uid);
  slow_.Post([directory, volumes = settings_.data_dir + "/volumes/" + uid] {
    directory.Erase();
    std::error_code ignored;
    std::filesystem::remove_all(volumes, ignored);
  });
}

// ---- the face

ShimRunner::ShimRunner(RunnerSettings settings, std::unique_ptr<Cgroups> cgroups,
                       const port::Clock& clock) {
  REQUIRE(settings.data_dir.starts_with('/') && settings.shim.starts_with('/'));
  core_ = std::make_unique<Core>(std::move(settings), std::move(cgroups), clock);
}

ShimRunner::~ShimRunner() = default;

void ShimRunner::Listen(Sink sink) {
  core_->Listen(std::move(sink));
}
void ShimRunner::Adopt(const std::vector<Known>& known) {
  core_->Post([core = core_.get(), known] { core->Adopt(known); });
}
void ShimRunner::Start(const port::Launch& launch) {
  core_->Post([core = core_.get(), launch] { core->Start(launch, 0); });
}
void ShimRunner::Stop(const std::string& uid, base::Millis grace) {
  core_->Post([core = core_.get(), uid, grace] { core->Stop(uid, grace); });
}
void ShimRunner::Kill(const std::string& uid) {
  core_->Post([core = core_.get(), uid] { core->Kill(uid); });
}
void ShimRunner::Forget(const std::string& uid, int start) {
  core_->Post([core = core_.get(), uid, start] { core->Forget(uid, start); });
}
void ShimRunner::Erase(const std::string& uid) {
  core_->Post([core = core_.get(), uid] { core->Erase(uid); });
}
port::Exec& ShimRunner::Execs() {
  return core_->execs();
}
std::vector<Running> ShimRunner::RunningNow() const {
  return core_->RunningNow();
}
std::size_t ShimRunner::Held() const {
  return core_->Held();
}
LimitsReport ShimRunner::Limits() const {
  return core_->limits();
}

}  // namespace pondage::run
