// The gang gets its GPUs: who is to be placed, and what a bind makes of them.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "job/pass.h"

namespace pondage::job {
namespace {

using Member = std::pair<Role, int>;

Member MemberOf(const Replica& replica) {
  return {replica.role, replica.index};
}

// Below its whole size a job with dynamic workers may start with fewer of them, down to
// minAvailable, unless they are to start and end together.
void TrimToFloor(const Spec& spec, std::vector<Member>& members) {
  if (!spec.dynamic_worker || !spec.min_available || EndsAttempt(spec, Role::kWorker)) return;
  const auto floor = static_cast<std::size_t>(std::max(*spec.min_available, 1));
  const auto is_spare = [](const Member& member) {
    return member.first == Role::kWorker && member.second > 0;
  };
  while (members.size() > floor) {
    const auto last = std::ranges::find_if(members.rbegin(), members.rend(), is_spare);
    if (last == members.rend()) return;
    members.erase(std::next(last).base());
  }
}

Replica& EntryOf(Status& status, const Member& member) {
  const auto at = std::ranges::lower_bound(status.replicas, member, {}, MemberOf);
  if (at != status.replicas.end() && MemberOf(*at) == member) return *at;
  return *status.replicas.insert(at, Replica{.role = member.first, .index = member.second});
}

}  // namespace

std::vector<Member> WantedMembers(const Spec& spec, const Status& status) {
  std::vector<Member> members;
  const bool bound = status.stage == Stage::kBound;
  auto entry = status.replicas.begin();
  for (const auto& [role, replicas] : spec.roles) {
    // A bound gang changes its size by leaving as a whole.
    if (bound && EndsAttempt(spec, role)) continue;
    for (int index = 0; index < replicas.replicas; ++index) {
      const Member member{role, index};
      while (entry != status.replicas.end() && MemberOf(*entry) < member) ++entry;
      if (entry != status.replicas.end() && MemberOf(*entry) == member) {
        if (entry->present || entry->restart_at) continue;
        if (entry->completed && StaysFinished(spec, role)) continue;
      }
      members.push_back(member);
    }
  }
  if (status.stage == Stage::kWaiting) TrimToFloor(spec, members);
  return members;
}

void BindGang(const Spec& spec, Status& status, const std::vector<fleet::Grant>& grants,
              const std::vector<int>& ports, base::Instant now) {
  REQUIRE(status.stage == Stage::kWaiting || status.stage == Stage::kBound);
  const std::vector<Member> members = WantedMembers(spec, status);
  REQUIRE(grants.size() == members.size() && ports.size() == members.size());
  for (std::size_t at = 0; at < members.size(); ++at) {
    Replica& replica = EntryOf(status, members[at]);
    REQUIRE(!replica.alive && !replica.grant);
    RenewPod(replica);
    replica.streak = 0;
    replica.grant = grants[at];
    replica.granted = now;
    replica.port = ports[at];
  }
  if (status.stage == Stage::kBound) return;
  status.stage = Stage::kBound;
  status.bound = now;
  ++status.attempt;
  // Time in the queue does not count; a restart goes on with the clock of the run it restarts
  // (O16).
  if (!status.start_time || IsTrue(status, "Suspended") || status.drain != Drain::kRestart) {
    status.start_time = now;
  }
  status.drain = Drain::kNone;
  status.not_before.reset();
  status.reason.reset();
  status.slot.reset();
  status.checkpoint_before.reset();
  status.user_stop.clear();
}

}  // namespace pondage::job
