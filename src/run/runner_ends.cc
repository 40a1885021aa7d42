// How replicas end: asked of the lock and the directory, and what their shims could not do done.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "run/remnants.h"
#include "run/replica_dir.h"
#include "run/runner_core.h"

namespace pondage::run {
namespace {

constexpr int kRemovals = 200;  // of kSoonMs: how long what was killed may take to be gone
constexpr std::size_t kErrorLimit = 4096;
constexpr std::int64_t kHangsMs = 5'000;  // what was to be told by then is not waited for

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
  lost.at = clock_.Now();
  lost.at_monotonic_ms = BoottimeMs();
  lost.boot_id = boot_id_;
  if (!this_start) {
    lost.message = "nothing is known of it on this machine";
  } else if (spec->boot_id != boot_id_) {
    lost.message = "the machine was restarted while it ran";
    lost.at = lost.at - base::Millis{lost.at_monotonic_ms};  // it was gone when the machine began
    lost.at_monotonic_ms = 0;
  } else if (!replica.told_started && !directory.HasBegun(start)) {
    lost.message = "its shim ended before it had begun";
  } else {
    // Whoever killed it, the machine did not fail: a program that does it may not gain by it.
    lost.reason = "Error";
    lost.message = *replica.forced ? "its shim did not end it in time and was killed with it"
                                   : "its shim was killed";
  }
  return lost;
}

// Before the end of a program whose shim was never heard: a life so short, or over while no server
// was there. What may have begun is told as begun, since its job may rule out a second time.
void ShimRunner::Core::TellBeginning(const std::string& uid, const Replica& replica) {
  const ReplicaDir directory(settings_.data_dir, uid);
  port::Started started{uid, static_cast<int>(replica.start), 0, {}};
  const auto recorded = directory.ReadExit(replica.start);
  if (const auto& ended = recorded ? recorded : replica.heard) {
    if (ended->pid == 0) return;
    started.pid = ended->pid;
    started.at = base::Instant{ended->started_unix_ms};
    return Emit(started);
  }
  const port::Reading end = EndOf(uid, replica);
  const auto* lost = std::get_if<port::Exited>(&end);
  const auto spec = directory.ReadSpec();
  if (lost == nullptr || !spec || spec->start != replica.start) return;
  if (spec->boot_id == boot_id_ && !directory.HasBegun(replica.start)) return;
  started.at = lost->at;  // not later, and nobody knows better
  Emit(started);
}

// A program of its account can stop its shim, which then keeps no deadline: the server does, a
// little later. On a thread of its own, since a look at a process can hang.
void ShimRunner::Core::ForceWhenDue(const std::string& uid, Replica& replica) {
  constexpr std::int64_t kNever = INT64_MAX;
  const std::int64_t due =
      std::min(replica.stop_deadline.value_or(kNever), replica.kill_asked.value_or(kNever));
  const std::int64_t late = due == kNever ? -1 : BoottimeMs() - due;
  if (late < settings_.stopped_ms || replica.forcing) return;
  replica.forcing = true;
  const bool heard = replica.connection >= 0 && (replica.told_started || replica.unwanted);
  Send(ours_, [gate = gate_, lock = ReplicaDir(settings_.data_dir, uid).File("lock"), uid,
               start = replica.start, heard, forced = replica.forced,
               long_late = late >= settings_.working_ms] {
    for (const shim::Process& shim : HoldersOf(lock)) {
      if (!IsStopped(shim) && heard && !(long_late && LeavesAlive(shim))) continue;
      *forced = true;
      KillTree(shim);
    }
    Return(gate, [uid, start](Core& core) {
      Replica* const still = core.Find(uid);
      if (still == nullptr || still->start != start) return;
      still->forcing = false;
      core.CheckEnded(uid);
    });
  });
}

// Of a shim that could not do it. False: not yet, and it is tried again: until then the replica
// holds what it was given. On a thread of its own, since a look at a process can hang.
bool ShimRunner::Core::EndRemnants(const std::string& uid, Replica& replica) {
  const auto spec = ReplicaDir(settings_.data_dir, uid).ReadSpec();
  if (!spec || spec->boot_id != boot_id_) return true;  // none of it can be there
  cgroups_->Kill(uid);
  if (!replica.nothing_left) {
    if (std::exchange(replica.ending, true)) return false;
    Send(ours_, [gate = gate_, uid, start = replica.start] {
      const bool gone = KillRemnants(uid);
      Return(gate, [uid, start, gone](Core& core) {
        Replica* const still = core.Find(uid);
        if (still == nullptr || still->start != start) return;
        still->ending = false;
        still->nothing_left = gone;
        if (gone) core.CheckEnded(uid);  // else the tick looks again
      });
    });
    return false;
  }
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
  if (!replica.told_started && !replica.unwanted) TellBeginning(uid, replica);
  CloseOf(replica);
  {
    const std::lock_guard lock(mutex_);
    running_.erase(uid);
  }
  if (!replica.checkpoints) return TellEnd(uid, replica);
  LookForCheckpoints(uid, replica);
  reactor_.After(settings_.last_look_ms, [this, uid, start = replica.start] {
    Replica* const still = Find(uid);
    if (still != nullptr && still->start == start) TellEnd(uid, *still);
  });
}

void ShimRunner::Core::LookForCheckpoints(const std::string& uid, Replica& replica) {
  if (std::exchange(replica.looking, true)) return;
  Send(theirs_, [gate = gate_, watch = replica.checkpoints, uid, start = replica.start,
                 last = replica.settled] {
    auto saved = last ? watch->LastLook() : watch->Look();
    Return(gate, [uid, start, last, saved = std::move(saved)](Core& core) {
      core.OnLooked(uid, start, last, saved);
    });
  });
}

void ShimRunner::Core::OnLooked(const std::string& uid, std::int64_t start, bool last,
                                std::optional<port::Saved> saved) {
  Replica* const replica = Find(uid);
  if (replica == nullptr || replica->start != start || replica->end) return;
  replica->looking = false;
  if (saved && !replica->unwanted) Emit(*std::move(saved));
  if (last) {
    TellEnd(uid, *replica);
  } else if (replica->settled) {
    LookForCheckpoints(uid, *replica);  // that look may have been before its end
  }
}

// Those are told of when their checkpoints were looked at and their remnants are gone. Both can
// hang, and nobody waits for that for ever.
void ShimRunner::Core::AwaitEnds(const std::vector<Known>& known) {
  for (const Known& one : known) {
    const Replica* const replica = Find(one.uid);
    if (replica == nullptr || replica->unwanted || replica->end) continue;
    if (!ReplicaDir(settings_.data_dir, one.uid).IsLocked()) untold_.insert(one.uid);
  }
  if (untold_.empty()) return TellAll();
  reactor_.After(settings_.last_look_ms + kHangsMs, [this] {
    if (!untold_.empty()) TellAll();
  });
}

void ShimRunner::Core::TellAll() {
  untold_.clear();
  Emit(port::AllTold{});
}

// Once: behind the last look, or without it when that does not come back.
void ShimRunner::Core::TellEnd(const std::string& uid, Replica& replica) {
  if (replica.end) return;
  replica.end = EndOf(uid, replica);
  if (!replica.unwanted) Emit(*replica.end);
  if (replica.erase) {
    Erase(uid);
  } else if (std::holds_alternative<port::NotStarted>(*replica.end)) {
    Drop(uid);  // nobody forgets what never was; asked again, its directory answers
  }
  if (untold_.erase(uid) > 0 && untold_.empty()) TellAll();
}

}  // namespace pondage::run
