// What the loop remembers is derived from the store: at the start, and after a failed commit.
#include <algorithm>
#include <set>

#include "job/lengths.h"
#include "loop/loop.h"
#include "manifest/annotations.h"
#include "manifest/needs.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/tfjob.h"
#include "manifest/use.h"

namespace pondage::loop {
namespace {

constexpr const char* kTfJobs = "tfjobs.kubeflow.org";

// GPUs that loaded jobs hold, to see whether the next one is at odds with them.
using Held = std::set<std::pair<std::string, int>>;

// Why a status that could be decoded cannot be true; empty: it can.
std::string Contradiction(const job::Status& status, const Held& held) {
  std::set<std::pair<base::Role, int>> members;
  Held own;
  for (const job::Replica& replica : status.replicas) {
    if (!members.emplace(replica.role, replica.index).second) {
      return "its status names a replica twice";
    }
    if (replica.alive && !replica.grant) return "its status has a program without a place";
    if (!replica.grant) continue;
    if (!std::ranges::is_sorted(replica.grant->gpus)) return "its status holds GPUs out of order";
    for (const int gpu : replica.grant->gpus) {
      const std::pair key(replica.grant->node, gpu);
      if (gpu < 0 || held.contains(key) || !own.insert(key).second) {
        return "its status holds a GPU that is not there or that another replica holds";
      }
    }
  }
  return "";
}

std::vector<fleet::Grant> AllGpus(const std::vector<pool::Fact>& facts) {
  std::vector<fleet::Grant> all;
  for (const pool::Fact& fact : facts) {
    const auto* seen = std::get_if<pool::NodeSeen>(&fact);
    if (seen == nullptr) continue;
    fleet::Grant grant{.node = seen->node.name};
    for (int gpu = 0; gpu < static_cast<int>(seen->node.gpus.size()); ++gpu) {
      grant.gpus.push_back(gpu);
    }
    all.push_back(std::move(grant));
  }
  return all;
}

}  // namespace

base::Result<void> Loop::Load() {
  std::vector<pool::Fact> facts;
  pods_.clear();
  shown_.clear();
  priorities_.clear();
  jobs_.clear();
  noted_.clear();
  terminating_.clear();
  leaving_claims_.clear();
  set_aside_.Clear();
  TRY_DO(LoadRest(facts));
  TRY_DO(LoadJobs(facts));
  TRY_DO(LoadPlanning(facts));
  TRY_DO(LoadLacks(facts));
  TRY_DO(LoadKept(facts));
  facts.emplace_back(pool::ProgramsUnheard{});  // until the runner has told all, after TakeOver
  pool_ = std::make_unique<pool::Pool>(settings_.pool);
  TRY_DO(FinishLoad(facts));
  TRY_DO(TakeOver());
  loaded_ = true;
  return {};
}

// Calls `understand` for each object of the kind that is live. One that cannot be read or
// understood is set aside: it must not keep the others from being served.
base::Result<void> Loop::LoadEach(
    const std::string& kind,
    const std::function<base::Result<void>(const port::Object&)>& understand) {
  TRY(const auto keys, store_.Live(kind));
  for (const port::Key& key : keys) {
    const auto object = store_.Get(key);
    if (!object && object.error().kind == base::Kind::kUnavailable) {
      return std::unexpected(object.error());
    }
    const auto understood =
        object ? understand(*object) : base::Result<void>(std::unexpected(object.error()));
    if (understood) continue;
    set_aside_.Put(
        key,
        {.uid = object ? object->uid : "", .trouble = SentenceOf(understood.error()), .job = {}});
  }
  return {};
}

base::Result<void> Loop::LoadRest(std::vector<pool::Fact>& facts) {
  TRY_DO(LoadEach("priorityclasses.scheduling.k8s.io",
                  [this](const port::Object& object) -> base::Result<void> {
                    TRY(priorities_[object.key.name], manifest::DecodePriorityClass(*object.body));
                    return {};
                  }));
  TRY_DO(LoadEach("queues.pondage.dev", [&](const port::Object& object) -> base::Result<void> {
    TRY(queue::Spec spec, manifest::DecodeQueue(*object.body));
    facts.emplace_back(pool::QueuePut{std::move(spec)});
    return {};
  }));
  TRY_DO(LoadEach("nodes", [&](const port::Object& object) -> base::Result<void> {
    TRY(fleet::Node node, manifest::DecodeNode(*object.body));
    facts.emplace_back(pool::NodeSeen{std::move(node)});
    return {};
  }));
  TRY(const auto spaces, store_.Live("namespaces"));
  for (const port::Key& key : spaces) terminating_.insert(key.name);
  TRY(const auto claims, store_.Live(manifest::StorageOf(job::Need::Kind::kClaim)));
  for (const port::Key& key : claims) leaving_claims_[key] = Leaving::kUnknown;
  return {};
}

base::Result<void> Loop::LoadJobs(std::vector<pool::Fact>& facts) {
  Held held;
  return LoadEach(kTfJobs, [&](const port::Object& object) -> base::Result<void> {
    TRY(manifest::TfJob job, manifest::DecodeTfJob(*object.body, Priorities()));
    if (std::string why = Contradiction(job.status, held); !why.empty()) {
      return base::Fail(base::Kind::kCorrupt, "PND-S003", "", std::move(why));
    }
    job::KeepLengths(job.spec, job.status, clock_.Now(), settings_.pool.job);
    job.identity.id = {object.created};
    for (const job::Replica& replica : job.status.replicas) {
      if (replica.grant) {
        for (const int gpu : replica.grant->gpus) held.emplace(replica.grant->node, gpu);
      }
      if (!replica.present) continue;
      const std::string uid =
          manifest::PodUid(job.identity, replica.role, replica.index, replica.incarnation);
      pods_[uid] = replica.Id(job.identity.id);
    }
    shown_[job.identity.id] = job.status.replicas;
    jobs_[object.key] = job.identity.id;
    facts.emplace_back(pool::JobLoaded{job.identity, job.spec, job.status, job.removed});
    return {};
  });
}

base::Result<void> Loop::LoadPlanning(std::vector<pool::Fact>& facts) {
  TRY_DO(LoadEach(std::string(manifest::kUses),
                  [&facts](const port::Object& object) -> base::Result<void> {
                    TRY(const auto uses, manifest::DecodeUses(*object.body));
                    for (const queue::Tree::UseOf& use : uses) {
                      facts.emplace_back(pool::UseKept{use});
                    }
                    return {};
                  }));
  return LoadEach(std::string(manifest::kPlans),
                  [&facts](const port::Object& object) -> base::Result<void> {
                    TRY(const base::Instant at, manifest::DecodePlanned(*object.body));
                    facts.emplace_back(pool::PlanKept{at});
                    return {};
                  });
}

// What a job holds whose own object says nothing: its Pods tell. When one of them is silent too,
// it is all that nobody else holds.
base::Result<void> Loop::LoadKept(std::vector<pool::Fact>& facts) {
  std::int64_t number = 0;
  for (const port::Key& key : set_aside_.Keys(kTfJobs)) {
    const base::JobId id{--number};  // as no other job is called: those are revisions
    set_aside_.Keep(key, id);
    pool::GpusKept kept{.job = id, .path = key.space + "/" + key.name, .grants = {}};
    const auto pods =
        store_.List({.kind = "pods",
                     .space = key.space,
                     .facet = "l:" + std::string(manifest::kJobName) + "=" + key.name});
    if (!pods && pods.error().kind == base::Kind::kUnavailable) {
      return std::unexpected(pods.error());
    }
    bool silent = !pods;
    for (const port::Object& object : pods ? pods->objects : std::vector<port::Object>()) {
      const auto pod = manifest::DecodeBoundPod(*object.body);
      silent = silent || !pod;
      if (pod && pod->ended) continue;
      set_aside_.Run(object.uid, {id, pod ? pod->start : 0});
      if (pod && !pod->grant.gpus.empty()) kept.grants.push_back(pod->grant);
    }
    if (silent) kept.grants = AllGpus(facts);
    facts.emplace_back(std::move(kept));
  }
  return {};
}

// Ended jobs that were found unreadable since the start, and still are.
base::Result<void> Loop::SetLostAside() {
  for (auto key = lost_.begin(); key != lost_.end();) {
    const auto object = store_.Get(*key);
    if (!object && object.error().kind == base::Kind::kUnavailable) {
      return std::unexpected(object.error());
    }
    if (object || object.error().kind == base::Kind::kNotFound) {
      key = lost_.erase(key);
      continue;
    }
    set_aside_.Put(*key, {.uid = "", .trouble = SentenceOf(object.error()), .job = {}});
    ++key;
  }
  return {};
}

// The first step after a load decides nothing durable by itself: it rebuilds the pool's memory.
// What it would decide is decided again, and committed, by the turn that follows.
base::Result<void> Loop::FinishLoad(const std::vector<pool::Fact>& facts) {
  pool_->Remember(facts);
  due_ = FindNextDue();
  TRY(const std::size_t kept, store_.CountDue(kEndOfTime, base::kNever));
  TRY_DO(SetLostAside());
  kept_ = static_cast<std::int64_t>(kept - lost_.size());
  expiry_ = KeepsTooMany() ? clock_.Now() : FindNextExpiry();
  pool_wake_ = clock_.Now();
  queue_due_ = pool_wake_;  // what queues show may be older than the last step
  return {};
}

// What ran is taken over. What was bound and never seen started is started now: the server ended
// between the commit and the start. If it did start after all, only the runner knows, which is
// therefore told of it before anything that it does not know is killed.
base::Result<void> Loop::TakeOver() {
  struct Unstarted {
    std::string uid;
    int start = 0;
    base::Result<port::Object> stored;
  };
  std::vector<port::Runner::Known> known;
  std::vector<Unstarted> unstarted;
  for (const auto& [id, job] : pool_->jobs()) {
    for (const job::Replica& replica : job.status.replicas) {
      if (!replica.alive || (!replica.started && replica.restart_at)) continue;
      const std::string uid =
          manifest::PodUid(job.identity, replica.role, replica.index, replica.incarnation);
      known.push_back(
          {uid, replica.restarts, job.spec.checkpoint_dir, replica.started.has_value()});
      if (replica.started) continue;
      const std::string name = job::ReplicaName(job.identity.name, replica.role, replica.index);
      const port::Key key{"pods", job.identity.space, name};
      auto pod = store_.Get(key);
      if (!pod && pod.error().kind == base::Kind::kUnavailable) {
        return std::unexpected(pod.error());
      }
      unstarted.push_back({uid, replica.restarts, std::move(pod)});
    }
  }
  for (const auto& [uid, program] : set_aside_.programs()) {
    known.push_back({uid, program.start, ""});
  }
  runner_.Adopt(known);
  for (const Unstarted& one : unstarted) {
    if (one.stored) {
      Launch(one.uid, *one.stored->body, one.start);
    } else {
      Tell(port::NotStarted{
          .uid = one.uid, .start = one.start, .message = SentenceOf(one.stored.error())});
    }
  }
  RepeatStops();  // behind the starts: one that was killed before it was seen started must not stay
  return {};
}

// A stop that was committed may never have been ordered: said again, it does no harm.
void Loop::RepeatStops() {
  for (const auto& [id, job] : pool_->jobs()) {
    for (const job::Replica& replica : job.status.replicas) {
      if (!replica.alive) continue;
      const std::string uid =
          manifest::PodUid(job.identity, replica.role, replica.index, replica.incarnation);
      if (replica.killed) {
        runner_.Kill(uid);
      } else if (replica.stop_asked && replica.kill_at) {
        runner_.Stop(uid, std::max(base::Millis{0}, *replica.kill_at - clock_.Now()));
      }
    }
  }
}

}  // namespace pondage::loop
