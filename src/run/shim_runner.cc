#include "run/shim_runner.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "run/replica_dir.h"
#include "run/runner_core.h"

namespace pondage::run {
namespace {

constexpr std::int64_t kTickMs = 1000;

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

}  // namespace

ShimRunner::Core::Replica* ShimRunner::Core::Find(const std::string& uid) {
  const auto found = replicas_.find(uid);
  return found == replicas_.end() ? nullptr : &found->second;
}

ShimRunner::Core::Replica& ShimRunner::Core::TakeOver(const std::string& uid, Replica replica) {
  if (!std::exchange(ticking_, true)) reactor_.After(kTickMs, [this] { Tick(); });
  Replica& taken = replicas_[uid] = std::move(replica);
  held_ = replicas_.size();
  return taken;
}

void ShimRunner::Core::Drop(const std::string& uid) {
  replicas_.erase(uid);
  held_ = replicas_.size();
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
  Attach(KillUnwanted(state.uid, state.start, true), connection, state);
}

ShimRunner::Core::Replica& ShimRunner::Core::KillUnwanted(const std::string& uid,
                                                          std::int64_t start, bool erase) {
  Replica unwanted;
  unwanted.start = start;
  unwanted.unwanted = true;
  unwanted.erase = erase;
  unwanted.kill_asked = BoottimeMs();
  return TakeOver(uid, std::move(unwanted));
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
  if (speaks && state.said.hello) Emit(Reading(state));
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
  command.kill = replica.kill_asked.has_value();
  if (replica.stop_deadline)
    command.stop_grace_ms = std::max<std::int64_t>(0, *replica.stop_deadline - BoottimeMs());
  if (command == shim::Command{}) return;
  sockets_.Send(replica.connection, command);
}
// ---- looking again

void ShimRunner::Core::Tick() {
  std::vector<std::string> uids;
  bool alive = false;
  for (auto& [uid, replica] : replicas_) {
    if (replica.settled) continue;
    alive = true;
    Order(replica);  // again: the socket may have been full
    ForceWhenDue(uid, replica);
    if (replica.checkpoints) LookForCheckpoints(uid, replica);
    if (replica.connection < 0) uids.push_back(uid);
  }
  for (const std::string& uid : uids) CheckEnded(uid);
  ticking_ = alive;
  if (alive) reactor_.After(kTickMs, [this] { Tick(); });
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
  for (const Known& one : known) {
    if (one.seen_started) {
      AdoptOne(one);
    } else {
      Expect(one);
    }
  }
  adopted_ = true;
  std::map<int, shim::State> strangers;
  strangers.swap(strangers_);
  for (auto& [connection, state] : strangers) OnState(connection, std::move(state));
  AwaitEnds(known);
}

void ShimRunner::Core::AdoptOne(const Known& known) {
  if (!ReplicaDir::IsName(known.uid) || waiting_.contains(known.uid)) return;
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
  const std::string& directory =
      spec && !spec->checkpoint_dir.empty() ? spec->checkpoint_dir : known.checkpoint_dir;
  if (spec && !directory.empty()) {  // without it there is nobody to look as
    replica.checkpoints = std::make_shared<CheckpointWatch>(known.uid, directory, RightsOf(*spec));
  }
  TakeOver(known.uid, std::move(replica));
  CheckEnded(known.uid);
}

// Its Start follows: of a replica that was never seen started, what is there is taken over now,
// before it can be mistaken for nobody's.
void ShimRunner::Core::Expect(const Known& known) {
  if (!ReplicaDir::IsName(known.uid)) return;
  const ReplicaDir directory(settings_.data_dir, known.uid);
  if (directory.IsMade(known.start)) {
    if (directory.IsTaken(known.start)) return;
    if (Find(known.uid) == nullptr) begun_[known.uid] = known.start;
    return AdoptOne(known);
  }
  const auto spec = directory.ReadSpec();
  if (spec && Find(known.uid) == nullptr && directory.IsLocked()) {
    KillUnwanted(known.uid, spec->start, false);  // it was told of: all that is left is its end
  }
}

// ---- orders

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
  if (!replica->kill_asked) replica->kill_asked = BoottimeMs();
  Order(*replica);
}

void ShimRunner::Core::Forget(const std::string& uid, int start) {
  if (const auto refused = refused_.find(uid);
      refused != refused_.end() && refused->second == start) {
    refused_.erase(refused);
  }
  const Replica* const replica = Find(uid);
  if (replica == nullptr || !replica->end || replica->start != start) return;
  ReplicaDir(settings_.data_dir, uid).Take(start);
  Drop(uid);
}

void ShimRunner::Core::Erase(const std::string& uid) {
  if (!ReplicaDir::IsName(uid)) return;
  Withdraw(uid);
  refused_.erase(uid);
  if (const auto making = preparing_.find(uid); making != preparing_.end()) {
    making->second.erase = true;  // what it makes now goes too
    return;
  }
  const ReplicaDir directory(settings_.data_dir, uid);
  Replica* const replica = Find(uid);
  if (replica != nullptr && !replica->end) {
    replica->erase = true;
    return;
  }
  if (replica == nullptr && directory.IsLocked()) {  // its shim is not heard of, and may never be
    const auto spec = directory.ReadSpec();
    KillUnwanted(uid, spec ? spec->start : 0, true);
    return;
  }
  Drop(uid);
  Send(ours_, [directory, volumes = settings_.data_dir + "/volumes/" + uid] {
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
void ShimRunner::Start(const std::string& uid, int start, MakeLaunch make) {
  core_->Post(
      [core = core_.get(), uid, start, make = std::move(make)] { core->Start(uid, start, make); });
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
