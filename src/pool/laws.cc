// The laws that hold after every step, recounted from nothing.
#include <fmt/format.h>

#include <map>
#include <set>

#include "job/topology.h"
#include "pool/pool.h"

namespace pondage::pool {
namespace {

using Broken = std::vector<std::string>;

// L1, L11: each GPU has the holder that its job's status names, and no other.
void CheckHolders(const Pool& pool, Broken& broken) {
  std::map<std::pair<std::string, int>, base::JobId> holders;
  for (const auto& [id, job] : pool.jobs()) {
    for (const job::Replica& replica : job.status.replicas) {
      if (!replica.grant) continue;
      for (const int gpu : replica.grant->gpus) {
        if (!holders.emplace(std::pair(replica.grant->node, gpu), id).second) {
          broken.push_back(
              fmt::format("L1: GPU {} of {} is bound twice", gpu, replica.grant->node));
        }
      }
    }
  }
  for (const auto& [id, kept] : pool.kept()) {
    for (const fleet::Grant& grant : kept.grants) {
      for (const int gpu : grant.gpus) {
        if (!holders.emplace(std::pair(grant.node, gpu), id).second) {
          broken.push_back(fmt::format("L1: GPU {} of {}, which {} keeps, is bound too", gpu,
                                       grant.node, kept.path));
        }
      }
    }
  }
  std::size_t held = 0;
  for (const auto& [name, place] : pool.fleet().places()) {
    for (std::size_t gpu = 0; gpu < place.holder.size(); ++gpu) {
      if (!place.holder[gpu]) continue;
      ++held;
      const auto found = holders.find({name, static_cast<int>(gpu)});
      if (found == holders.end() || found->second != *place.holder[gpu]) {
        broken.push_back(fmt::format("L11: GPU {} of {} is held by nobody's status", gpu, name));
      }
    }
  }
  if (held != holders.size())
    broken.push_back("L11: a status holds a GPU that the fleet thinks free");
}

// L4, L11: a queue's use is the sum of what its jobs hold, and within every limit above it.
void CheckQueues(const Pool& pool, Broken& broken) {
  std::map<std::string, std::int64_t> own;
  for (const auto& [id, job] : pool.jobs()) {
    for (const job::Replica& replica : job.status.replicas) {
      if (replica.grant)
        own[job.spec.queue] += 1000 * static_cast<std::int64_t>(replica.grant->gpus.size());
    }
  }
  std::map<std::string, std::int64_t> used = own;
  for (const queue::Spec* spec : pool.queues().All()) {
    const std::string* parent = &spec->parent;
    for (int depth = 0; !parent->empty() && depth < 64; ++depth) {
      used[*parent] += own[spec->name];
      const queue::Spec* above = pool.queues().Find(*parent);
      if (above == nullptr) break;
      parent = &above->parent;
    }
  }
  for (const queue::Spec* spec : pool.queues().All()) {
    const base::MilliGpu counted{used[spec->name]};
    if (pool.queues().Used(spec->name) != counted) {
      broken.push_back(fmt::format("L11: queue {} counts {} milli-GPU, its jobs hold {}",
                                   spec->name, pool.queues().Used(spec->name).value,
                                   counted.value));
    }
  }
}

// L2: a bound gang has a Pod for each member that is not finished; a waiting one holds nothing.
void CheckGang(const JobView& job, Broken& broken) {
  const bool whole = job::RestartScope(job.spec) == job::Scope::kGang;
  for (const job::Replica& replica : job.status.replicas) {
    const std::string name = job.identity.Path() + " " + job::RoleLabel(replica.role);
    if (replica.alive && !replica.grant) broken.push_back("L2: " + name + " runs without a grant");
    if (job.status.stage == job::Stage::kWaiting && replica.grant) {
      broken.push_back("L2: " + name + " waits and holds a grant");
    }
    if (job.status.stage == job::Stage::kBound && whole && replica.present && !replica.grant &&
        replica.phase != job::Phase::kSucceeded) {
      broken.push_back("L2: " + name + " of a bound gang has no grant and has not succeeded");
    }
  }
}

// L2: two replicas never share an address, and of a bound job nobody whose address another may have
// read in TF_CONFIG lacks one: a dynamic worker that failed and is not run again is no peer, and
// one that was alone knows of no other until the first is placed beside it.
void CheckPorts(const Pool& pool, Broken& broken) {
  std::set<int> ports;
  for (const auto& [id, job] : pool.jobs()) {
    std::vector<const job::Replica*> peers;
    for (const job::Replica& replica : job.status.replicas) {
      if (replica.port != 0 && !ports.insert(replica.port).second) {
        broken.push_back(fmt::format("L2: port {} belongs to two replicas", replica.port));
      }
      const bool counts = replica.present && (replica.alive || replica.completed);
      if (counts && !job::IsSurplus(job.spec, replica)) peers.push_back(&replica);
    }
    if (job.status.stage != job::Stage::kBound || peers.size() < 2) continue;
    for (const job::Replica* peer : peers) {
      if (peer->port != 0) continue;
      broken.push_back(fmt::format("L2: {} {}-{} has no port", job.identity.Path(),
                                   job::RoleLabel(peer->role), peer->index));
    }
  }
}

void CheckJob(const Pool& pool, const JobView& job, Broken& broken) {
  const job::Status& status = job.status;
  if (job::IsTrue(status, "Succeeded") && job::IsTrue(status, "Failed")) {
    broken.push_back("two terminal conditions: " + job.identity.Path());
  }
  if (status.stage == job::Stage::kWaiting && !status.reason && !job.spec.managed_elsewhere &&
      !job.removed) {
    broken.push_back("L9: " + job.identity.Path() + " waits without a reason");
  }
  CheckGang(job, broken);
  for (const job::Replica& replica : status.replicas) {
    base::ReplicaId account = replica.Id(job.identity.id);
    account.incarnation = 0;
    if (pool.ledger().IsOpen(account) != replica.grant.has_value()) {
      broken.push_back("L12: charge and grant disagree: " + job.identity.Path());
    }
  }
}

}  // namespace

std::vector<std::string> BrokenLaws(const Pool& pool) {
  Broken broken;
  CheckHolders(pool, broken);
  CheckQueues(pool, broken);
  CheckPorts(pool, broken);
  for (const auto& [id, job] : pool.jobs()) CheckJob(pool, job, broken);
  return broken;
}

}  // namespace pondage::pool
