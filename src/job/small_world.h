// A pool of one job, for the tests of this room: takes facts as the real one does, carries out each
// verdict, and complains at once about what no verdict may ask for.
//
// One thread. Everything is bound at once when `room` is true.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/exits.h"
#include "job/machine.h"

namespace pondage::job {

inline constexpr std::int64_t kStartOfTime = 1'700'000'000'000;

inline ReplicaSpec Replicas(int count, RestartPolicy restart = RestartPolicy::kNever) {
  ReplicaSpec replicas;
  replicas.replicas = count;
  replicas.restart = restart;
  return replicas;
}

inline std::string ConditionsOf(const Status& status) {
  std::string out;
  for (const Condition& condition : status.conditions) {
    if (!out.empty()) out += ' ';
    out += condition.type + (condition.is_true ? "" : "=False");
  }
  return out;
}

class SmallWorld {
 public:
  explicit SmallWorld(Spec of) : spec(std::move(of)) {
    identity = {{7}, "ml", "mnist", "uid-7", now};
    status = FirstStatus(identity, spec, now);
  }

  Identity identity;
  Spec spec;
  Status status;
  Settings settings;
  base::Instant now{kStartOfTime};
  bool room = true;
  bool removed = false;
  bool gone = false;
  bool wants = false;
  base::Instant wake = base::kNever;
  std::vector<std::string> log;  // what was asked for since the last Log()
  std::vector<std::string> notes;
  std::vector<std::string> broken;  // laws that a verdict broke

  // The job is judged, what it asks for is done; bound if it wants to be.
  void Step() {
    JudgeOnce();
    for (int round = 0; round < 4 && wants && room && !gone; ++round) {
      BindAll();
      JudgeOnce();
    }
  }

  void Pass(std::int64_t ms) {
    now = now + base::Millis{ms};
    Step();
  }

  // The author changes a number of replicas. Step() judges it.
  void Scale(Role role, int replicas) {
    const Spec before = spec;
    spec.roles.at(role).replicas = replicas;
    TakeChange(before, spec, status);
  }

  Replica& Of(Role role, int index = 0) {
    Replica* replica = FindReplica(status, role, index);
    EXPECT_NE(replica, nullptr) << RoleName(role) << index;
    static Replica nobody;
    return replica == nullptr ? nobody : *replica;
  }

  // Facts. None of them is judged: Step() does that.
  void Starts(Role role, int index = 0) {
    Replica& replica = Of(role, index);
    if (!replica.alive) return;
    replica.phase = Phase::kRunning;
    if (!replica.started) replica.started = now;
  }
  void StartsAll() {
    for (Replica& replica : status.replicas) {
      if (replica.alive) Starts(replica.role, replica.index);
    }
  }
  void Exits(Role role, int index, int code, std::int64_t ms_ago = 0) {
    Replica& replica = Of(role, index);
    if (!replica.alive) return;
    replica.alive = false;
    replica.exit = Exit{.code = code,
                        .reason = code == 0 ? "Completed" : "Error",
                        .message = "",
                        .at = now - base::Millis{ms_ago},
                        .at_monotonic_ms = now.unix_ms - kStartOfTime - ms_ago,
                        .boot_id = "b"};
    replica.phase = code == 0 ? Phase::kSucceeded : Phase::kFailed;
  }
  void Says(Role role, int index, std::int64_t step) {
    Of(role, index).hello = true;
    Of(role, index).step = step;
  }
  void PodDeleted(Role role, int index, std::optional<std::int64_t> grace_ms = {}) {
    Replica& replica = Of(role, index);
    if (!replica.present) return;
    if (grace_ms) replica.delete_by = now + base::Millis{*grace_ms};
    if (!replica.deleting) replica.disrupted = true;
    replica.deleting = true;
  }
  void NodeLost(Role role, int index) {
    Replica& replica = Of(role, index);
    if (!replica.alive) return;
    replica.disrupted = true;
    Exits(role, index, 137);
    replica.exit->reason = "NodeLost";
    replica.exit->boot_id.clear();
  }

  // Asked for since the last call: "stop worker-0.1 +30000", "release ps-0.1 restart", ...
  std::string Log() {
    std::string out;
    for (const std::string& line : log) out += (out.empty() ? "" : "; ") + line;
    log.clear();
    return out;
  }
  std::string Conditions() const { return ConditionsOf(status); }
  const Condition& Last() const { return status.conditions.back(); }

 private:
  void JudgeOnce() {
    const Status before = status;
    Verdict verdict = Judge(identity, spec, status, removed, now, settings);
    for (const Action& action : verdict.actions) Carry(action, before);
    for (const Note& note : verdict.notes) notes.push_back(note.reason + ": " + note.message);
    wants = verdict.wants_gang;
    gone = gone || verdict.gone;
    wake = verdict.wake;
    CheckIdempotent();
  }

  void CheckIdempotent() {
    Status again = status;
    const Verdict second = Judge(identity, spec, again, removed, now, settings);
    if (!second.actions.empty() || !second.notes.empty()) broken.push_back("asks twice");
    if (!(again == status)) broken.push_back("changes its mind without a fact");
    if (second.wants_gang != wants && !gone) broken.push_back("wants a gang and then not");
  }

  void Carry(const Action& action, const Status& before) {
    Replica* replica = FindReplica(status, action.replica.role, action.replica.index);
    if (replica == nullptr) return broken.push_back("acts on nobody");
    const std::string name = fmt::format("{}-{}.{}", RoleLabel(replica->role), replica->index,
                                         action.replica.incarnation);
    const bool current = action.replica.incarnation == replica->incarnation;
    switch (action.act) {
      case Act::kStop:
        log.push_back(fmt::format("stop {} +{}", name, (action.deadline - now).value));
        return Demand(current && replica->present && replica->alive, "stops who is not there");
      case Act::kKill:
        log.push_back("kill " + name);
        return Demand(current && replica->present && replica->alive, "kills who is not there");
      case Act::kStart:
        log.push_back("start " + name);
        return Demand(current && replica->present && replica->alive && replica->grant,
                      "starts who is not there");
      case Act::kRemake:
        log.push_back("remake " + name);
        return Demand(current && replica->present && replica->alive && replica->grant,
                      "remakes who is not there");
      case Act::kRelease:
        log.push_back("release " + name + " " + action.why);
        Demand(replica->grant && !replica->alive, "releases what is in use");
        replica->grant.reset();
        replica->granted.reset();
        replica->port = 0;
        return;
      case Act::kRemove:
        log.push_back("remove " + name);
        Demand(WasPresent(before, action.replica), "removes a Pod that is not there");
        return Demand(!current || !replica->alive, "removes a Pod that runs");
    }
  }

  static bool WasPresent(const Status& before, const base::ReplicaId& id) {
    return std::ranges::any_of(before.replicas, [&](const Replica& replica) {
      return replica.role == id.role && replica.index == id.index &&
             replica.incarnation == id.incarnation && replica.present;
    });
  }

  void Demand(bool holds, const char* law) {
    if (!holds) broken.push_back(law);
  }

  void BindAll() {
    const auto members = WantedMembers(spec, status);
    std::vector<fleet::Grant> grants;
    std::vector<int> ports;
    for (std::size_t i = 0; i < members.size(); ++i) {
      grants.push_back({"node", {static_cast<int>(i)}, {}, {}});
      ports.push_back(next_port_++);
    }
    BindGang(spec, status, grants, ports, now);
    for (const auto& [role, index] : members) {
      const Replica* replica = FindReplica(status, role, index);
      Demand(replica != nullptr && replica->alive && replica->present && replica->grant,
             "binds and does not start");
      log.push_back(fmt::format("bind {}-{}.{}", RoleLabel(role), index,
                                replica == nullptr ? 0 : replica->incarnation));
    }
  }

  int next_port_ = 20'000;
};

}  // namespace pondage::job
