// How replicas start: prepared on a thread that may hang, then begun by the one that never does.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>
#include <vector>

#include "run/replica_dir.h"
#include "run/runner_core.h"

namespace pondage::run {
namespace {

constexpr int kLockAttempts = 1000;  // of kSoonMs: how long a start waits for the shim before it
constexpr std::int64_t kErrandsMs = 50;

std::int64_t BetweenLooks(const RunnerSettings& settings) {
  constexpr std::int64_t kMostMs = 1'000;
  return std::min(kMostMs, settings.tell_after_ms);
}

base::Result<Prepared> PrepareSafely(Preparer& preparer, const std::string& uid, int start,
                                     const port::Runner::MakeLaunch& make, bool called_off) {
  if (called_off) return base::Fail(base::Kind::kUnavailable, "PND-R007", "", "it was taken back");
  try {
    return preparer.Prepare(uid, start, make);
  } catch (const std::exception& trouble) {
    return base::Fail(base::Kind::kUnavailable, "PND-R007", "", trouble.what());
  }
}

}  // namespace

// ---- work that may hang

void ShimRunner::Core::Send(Errands& errands, Errands::Work work) {
  if (errands.Run(std::move(work)) && !std::exchange(watching_errands_, true)) {
    reactor_.After(kErrandsMs, [this] { LookAtErrands(); });
  }
}

void ShimRunner::Core::LookAtErrands() {
  const bool theirs = theirs_.Look();
  const bool ours = ours_.Look();
  watching_errands_ = theirs || ours;
  if (watching_errands_) reactor_.After(kErrandsMs, [this] { LookAtErrands(); });
}

// On any thread, also when the runner is gone.
void ShimRunner::Core::Return(const std::shared_ptr<Gate>& gate,
                              std::function<void(Core&)> closure) {
  const std::lock_guard lock(gate->mutex);
  if (Core* const core = gate->core) {
    core->Post([core, closure = std::move(closure)] { closure(*core); });
  }
}

// ---- starting

void ShimRunner::Core::Start(const std::string& uid, int start, MakeLaunch make) {
  if (!ReplicaDir::IsName(uid)) {
    Emit(port::NotStarted{uid, start, "its uid is no name", {}});
    return;
  }
  if (const auto refused = refused_.find(uid);
      refused != refused_.end() && refused->second >= start) {
    return;
  }
  if (const auto answered = begun_.extract(uid); answered && answered.mapped() >= start) {
    return;  // what became of it was or will be told
  }
  const Replica* const known = Find(uid);
  if (known != nullptr && known->start >= start) return;
  if (known == nullptr) {
    const ReplicaDir directory(settings_.data_dir, uid);
    if (directory.IsMade(start)) {
      if (!directory.IsTaken(start)) AdoptOne({uid, start, ""});
      return;
    }
  }
  if (const auto asked = waiting_.find(uid);
      asked != waiting_.end() && asked->second.start >= start) {
    return;
  }
  CallOff(uid);
  waiting_[uid] = {
      .start = start, .order = ++orders_, .make = std::move(make), .since_ms = BoottimeMs()};
  if (!preparing_.contains(uid)) Prepare(uid);
}

void ShimRunner::Core::Prepare(const std::string& uid) {
  Waiting& waiting = waiting_.at(uid);
  Preparing& preparing = preparing_[uid] = {waiting.order, std::make_shared<Touched>(),
                                            std::make_shared<std::atomic<bool>>(false)};
  Send(theirs_, [gate = gate_, preparer = preparer_, touched = preparing.touched,
                 called_off = preparing.called_off, uid, start = waiting.start,
                 make = std::exchange(waiting.make, nullptr)]() mutable {
    std::shared_ptr<base::Result<Prepared>> result;
    {
      const Touched::Listening listening(*touched);
      result = std::make_shared<base::Result<Prepared>>(
          PrepareSafely(*preparer, uid, start, make, *called_off));
      make = nullptr;
    }
    Return(gate, [uid, result](Core& core) { core.OnPrepared(uid, std::move(*result)); });
  });
  if (!std::exchange(watching_starts_, true)) {
    reactor_.After(BetweenLooks(settings_), [this] { LookAtStarts(); });
  }
}

void ShimRunner::Core::OnPrepared(const std::string& uid, base::Result<Prepared> prepared) {
  const Preparing preparing = preparing_.extract(uid).mapped();
  const auto waiting = waiting_.find(uid);
  if (waiting == waiting_.end()) {  // taken back meanwhile
    if (preparing.erase) Erase(uid);
    return;
  }
  const int start = waiting->second.start;
  if (waiting->second.order != preparing.order) {
    Prepare(uid);  // for the order that came after it
  } else if (!prepared) {
    waiting_.erase(waiting);
    Refuse(port::Refused(uid, start, prepared.error()));
  } else {
    waiting->second.prepared = *std::move(prepared);
    Begin(uid, preparing.order, 0);
  }
}

void ShimRunner::Core::Begin(const std::string& uid, std::int64_t order, int attempt) {
  const auto waiting = waiting_.find(uid);
  if (waiting == waiting_.end() || waiting->second.order != order) return;  // it was taken back
  if (const Replica* const known = Find(uid); known != nullptr && !known->settled) {
    CheckEnded(uid);  // the start before this one must be told of first
  }
  const Replica* const known = Find(uid);
  const ReplicaDir directory(settings_.data_dir, uid);
  shim::Descriptor lock =
      known == nullptr || known->end ? directory.TakeLock() : shim::Descriptor();
  if (!lock && attempt < kLockAttempts) {
    reactor_.After(kSoonMs, [this, uid, order, attempt] { Begin(uid, order, attempt + 1); });
    return;
  }
  Prepared prepared = *std::move(waiting->second.prepared);
  waiting_.erase(waiting);
  if (!lock) {
    Refuse(port::NotStarted{
        uid, prepared.launch.start, "its directory " + directory.path() + " is in use", {}});
    return;
  }
  auto outcome = starter_.Start(prepared, std::move(lock));
  if (auto* const refusal = std::get_if<port::NotStarted>(&outcome)) {
    Refuse(std::move(*refusal));
    return;
  }
  Replica replica;
  replica.start = prepared.launch.start;
  replica.checkpoints = std::move(prepared.checkpoints);
  TakeOver(uid, std::move(replica));
  Spawned(uid, std::get<pid_t>(outcome));
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

// True when the start had not begun, and now never does.
bool ShimRunner::Core::Withdraw(const std::string& uid) {
  const auto waiting = waiting_.extract(uid);
  if (!waiting) return false;
  CallOff(uid);
  Refuse(port::NotStarted{uid, waiting.mapped().start, "it was stopped before it started", {}});
  return true;
}

// What may hang is not begun for nothing: each thread that does is lost.
void ShimRunner::Core::CallOff(const std::string& uid) {
  if (const auto preparing = preparing_.find(uid); preparing != preparing_.end())
    *preparing->second.called_off = true;
}

// Told once: who loads its memory anew orders the start again before it has heard of this.
void ShimRunner::Core::Refuse(port::NotStarted refusal) {
  refused_[refusal.uid] = refusal.start;
  Emit(std::move(refusal));
}

// What a start waits for that was not prepared yet: its own thread may hang, that of a start before
// it, or all threads there are.
std::string ShimRunner::Core::WhatHolds(const std::string& uid) const {
  const auto preparing = preparing_.find(uid);
  if (preparing == preparing_.end() || preparing->second.touched->began_ms() == 0)
    return "what other starts need";
  std::string what = preparing->second.touched->what();
  return what.empty() ? "a file system that its start needs" : what;
}

// What does not answer is told of, and given up in the end: its thread is lost, not the replica.
void ShimRunner::Core::LookAtStarts() {
  const std::int64_t now = BoottimeMs();
  std::vector<std::string> given_up;
  for (auto& [uid, waiting] : waiting_) {
    const std::int64_t age = now - waiting.since_ms;
    if (waiting.prepared || age < settings_.tell_after_ms) continue;
    if (!std::exchange(waiting.told, true))
      Emit(port::Delayed{uid, waiting.start, WhatHolds(uid) + " does not answer"});
    if (age >= settings_.give_up_after_ms) given_up.push_back(uid);
  }
  for (const std::string& uid : given_up) {
    const int start = waiting_.extract(uid).mapped().start;
    CallOff(uid);
    Refuse(port::Refused(
        uid, start,
        {base::Kind::kUnavailable, "PND-R009", "",
         WhatHolds(uid) + " has not answered for " +
             std::to_string(settings_.give_up_after_ms / 1000) + " s; the start was given up"}));
  }
  watching_starts_ = !preparing_.empty();
  if (watching_starts_) {
    reactor_.After(BetweenLooks(settings_), [this] { LookAtStarts(); });
  }
}

}  // namespace pondage::run
