// Carries out what was judged and planned: grants, ports, charges.
#include <algorithm>

#include "base/assert.h"
#include "pool/pool.h"

namespace pondage::pool {
namespace {

base::ReplicaId Account(base::ReplicaId id) {
  id.incarnation = 0;  // the charge follows the grant, which a remade Pod of an index keeps
  return id;
}

}  // namespace

void Pool::Do(JobView& job, const job::Action& action, base::Instant now,
              std::vector<Decision>& out) {
  switch (action.act) {
    case job::Act::kStop:
      out.push_back(StopReplica{action.replica, action.deadline});
      return;
    case job::Act::kKill:
      out.push_back(KillReplica{action.replica});
      return;
    case job::Act::kStart:
      out.push_back(StartReplica{action.replica});
      return;
    case job::Act::kRemove:
      out.push_back(RemovePod{action.replica});
      return;
    case job::Act::kRemake:
      out.push_back(MakePod{action.replica});
      out.push_back(StartReplica{action.replica});
      return;
    case job::Act::kRelease:
      job::Replica* replica =
          job::FindReplica(job.status, action.replica.role, action.replica.index);
      REQUIRE(replica != nullptr);
      Release(job, *replica, action, now, out);
      return;
  }
}

void Pool::Bind(JobView& job, const plan::Placement& placement, base::Instant now,
                std::vector<Decision>& out) {
  const auto members = job::WantedMembers(job.spec, job.status);
  REQUIRE(members.size() == placement.grants.size());
  const std::size_t wanted = PortsWanted(job);
  const auto ports = TakePorts(job, wanted, now);
  if (!ports) return LackPorts(job, wanted, now);
  std::vector<int> own = *ports;
  own.resize(members.size(), 0);
  job::BindGang(job.spec, job.status, placement.grants, own, now);
  if (wanted > members.size()) GivePorts(job, std::span(*ports).subspan(members.size()));

  for (const auto& [role, index] : members) {
    const job::Replica* replica = job::FindReplica(job.status, role, index);
    PROMISE(replica != nullptr && replica->grant && replica->alive && replica->present);
    Hold(job, *replica, now);
    out.push_back(MakePod{replica->Id(job.identity.id)});
  }
  for (const auto& [role, index] : members) {
    out.push_back(StartReplica{job::FindReplica(job.status, role, index)->Id(job.identity.id)});
  }
  wants_.erase(job.identity.id);
  planner_->DropAsk(job.identity.id);  // nobody waits behind it any more
  Touch(job.identity.id);
}

void Pool::Hold(const JobView& job, const job::Replica& replica, base::Instant now) {
  REQUIRE(replica.grant.has_value());
  const fleet::Grant& grant = *replica.grant;
  ExpectNode(grant);
  planner_->Bind(HoldingOf(job), grant, replica.granted.value_or(now));
  used_.insert(job.spec.queue);
  if (replica.port != 0) ports_.insert(replica.port);
  const auto role = job.spec.roles.find(replica.role);
  ledger_.Open({.replica = Account(replica.Id(job.identity.id)),
                .job = job.identity.Path(),
                .uid = job.identity.uid,
                .queue = job.spec.queue,
                .user = job.spec.user,
                .node = grant.node,
                .attempt = job.status.attempt,
                .gpus = grant.Charge(),
                .from = replica.granted.value_or(now),
                .image = role == job.spec.roles.end() ? "" : role->second.image});
}

// A grant may lie on a machine that was not seen yet.
void Pool::ExpectNode(const fleet::Grant& grant) {
  if (fleet().Find(grant.node) != nullptr) return;
  fleet::Node unseen{.name = grant.node, .health = fleet::Health::kLost};
  const int highest = grant.gpus.empty() ? -1 : grant.gpus.back();
  unseen.gpus.resize(static_cast<std::size_t>(highest + 1));
  planner_->SeeNode(std::move(unseen));
}

void Pool::Release(JobView& job, job::Replica& replica, const job::Action& action,
                   base::Instant now, std::vector<Decision>& out) {
  REQUIRE(replica.grant.has_value());
  REQUIRE(!replica.alive);
  planner_->Release(job.identity.id, *replica.grant, now);
  used_.insert(job.spec.queue);
  out.push_back(CloseCharge{ledger_.Close(Account(action.replica), action.ended, action.why)});
  // The others know one that has finished by its address: nobody else may listen there.
  const bool known = replica.completed && job.status.stage == job::Stage::kBound;
  if (!known) FreePort(replica);
  replica.grant.reset();
  replica.granted.reset();
}

}  // namespace pondage::pool
