// What a job cannot do without: objects of its namespace that its Pods name. And the one kind of
// them that is not deleted under a program: a PersistentVolumeClaim stays until nobody uses it.
#include "manifest/needs.h"

#include <algorithm>
#include <set>

#include "loop/turn.h"
#include "manifest/object.h"

namespace pondage::loop {
namespace {

const std::string kClaims = manifest::StorageOf(job::Need::Kind::kClaim);

// The first of them that `get` does not find, or not whole. One that cannot be read is as good as
// none; when the store is away nothing is known, and the turn is void.
template <typename Get>
std::optional<job::Lack> FirstLack(const std::vector<job::Need>& needs, const std::string& space,
                                   const Get& get) {
  for (const job::Need& need : needs) {
    const base::Result<port::Object> object =
        get(port::Key{manifest::StorageOf(need.kind), space, need.name});
    if (!object || !manifest::Meets(need, *object->body)) return job::Lack{need, false};
    if (need.kind == job::Need::Kind::kClaim && manifest::IsBeingDeleted(*object->body))
      return job::Lack{need, true};
  }
  return std::nullopt;
}

bool NeedsClaim(const std::vector<job::Need>& needs, const std::string& name) {
  return std::ranges::any_of(needs, [&](const job::Need& need) {
    return need.kind == job::Need::Kind::kClaim && need.name == name;
  });
}

}  // namespace

base::Result<void> Loop::LoadLacks(std::vector<pool::Fact>& facts) {
  std::vector<pool::Fact> lacks;
  std::optional<base::Error> away;
  for (const pool::Fact& fact : facts) {
    const auto* const loaded = std::get_if<pool::JobLoaded>(&fact);
    if (loaded == nullptr) continue;
    auto lack = FirstLack(loaded->spec.needs, loaded->identity.space, [&](const port::Key& key) {
      auto object = store_.Get(key);
      if (!object && object.error().kind == base::Kind::kUnavailable) away = object.error();
      return object;
    });
    if (away) return std::unexpected(*std::move(away));
    if (lack) lacks.emplace_back(pool::JobLacks{loaded->identity.id, std::move(lack)});
  }
  facts.insert(facts.end(), lacks.begin(), lacks.end());
  return {};
}

std::optional<job::Lack> Turner::LackOf(const job::Spec& spec, const std::string& space) const {
  return FirstLack(spec.needs, space, [this](const port::Key& key) { return pending_.Get(key); });
}

// After what was drafted since it was called last: for jobs that were applied, and for those that
// need something that came, changed or went.
void Turner::TellLacks() {
  std::vector<pool::Fact> lacks;
  for (const pool::Fact& fact : facts_) {
    const auto* const applied = std::get_if<pool::JobApplied>(&fact);
    if (applied == nullptr) continue;
    const pool::JobView* const known = loop_.pool_->Find(applied->identity.id);
    if (applied->spec.needs.empty() && (known == nullptr || !known->lack)) continue;
    lacks.emplace_back(
        pool::JobLacks{applied->identity.id, LackOf(applied->spec, applied->identity.space)});
  }
  std::set<port::Key> changed;
  const auto& changes = pending_.batch().changes;
  for (; needs_seen_ < changes.size(); ++needs_seen_) {
    const port::Key& key = changes[needs_seen_].key;
    for (const auto kind :
         {job::Need::Kind::kClaim, job::Need::Kind::kConfigMap, job::Need::Kind::kSecret}) {
      if (key.kind == manifest::StorageOf(kind)) changed.insert(key);
    }
  }
  if (!changed.empty()) {
    for (const auto& [id, job] : loop_.pool_->jobs()) {
      const bool concerned = std::ranges::any_of(job.spec.needs, [&](const job::Need& need) {
        return changed.contains({manifest::StorageOf(need.kind), job.identity.space, need.name});
      });
      if (concerned) lacks.emplace_back(pool::JobLacks{id, LackOf(job.spec, job.identity.space)});
    }
  }
  facts_.insert(facts_.end(), lacks.begin(), lacks.end());
}

// A gang that has its GPUs uses its claims though a member's Pod may be missing; a Pod that is left
// of a job uses them until it is deleted, as in Kubernetes. What cannot be read may use anything.
bool Turner::IsClaimUsed(const port::Key& claim) const {
  for (const auto& [key, id] : loop_.jobs_) {
    const pool::JobView* const job = key.space == claim.space ? loop_.pool_->Find(id) : nullptr;
    if (job == nullptr || !NeedsClaim(job->spec.needs, claim.name)) continue;
    const job::Stage stage = job->status.stage;
    if (stage == job::Stage::kBound || stage == job::Stage::kDraining) return true;
  }
  const auto pods = Inside(claim.space, "pods");
  if (!pods) return true;
  return std::ranges::any_of(*pods, [&](const port::Object& pod) {
    const auto needs = manifest::NeedsOfPod(*pod.body);
    return !needs || NeedsClaim(*needs, claim.name);
  });
}

// True: it is a claim, which leaves in two turns, so that its data goes only when its deletion is
// durable, and its object only when no server will ask for its data again.
bool Turner::HoldClaim(const port::Object& claim) {
  if (claim.key.kind != kClaims) return false;
  const auto [leaving, is_new] = loop_.leaving_claims_.emplace(claim.key, Loop::Leaving::kUnknown);
  if (leaving->second == Loop::Leaving::kDropped) {
    loop_.leaving_claims_.erase(leaving);
    return false;
  }
  if (!is_new) return true;
  MarkDeleting(claim, base::Millis{0});
  // One that finalizers held until now was marked long ago; a start must find it all the same.
  if (auto marked = pending_.Parsed(claim.key))
    PutObject(claim.key, *marked, /*live=*/true, std::nullopt);
  return true;
}

void Turner::ReleaseClaims() {
  using Leaving = Loop::Leaving;
  const std::map<port::Key, Leaving> all = loop_.leaving_claims_;
  for (const auto& [key, leaving] : all) {
    const auto claim = Doomed(key, "");
    if (!claim && claim.error().kind == base::Kind::kNotFound) {
      loop_.leaving_claims_.erase(key);
    } else if (leaving == Leaving::kDropped) {
      if (!claim) continue;  // the store is away: the turn is void
      Remove(*claim, false);
      loop_.leaving_claims_.erase(key);  // one that a finalizer holds by now waits for that alone
    } else if (leaving == Leaving::kUnknown || !pending_.Changed("pods", key.space).empty() ||
               !pending_.Changed("tfjobs.kubeflow.org", key.space).empty()) {
      const bool used = !claim || IsClaimUsed(key);
      loop_.leaving_claims_[key] = used ? Leaving::kUsed : Leaving::kOrdered;
      if (!used) orders_.push_back({.type = Order::Type::kDropClaim, .uid = claim->uid});
    }
  }
}

}  // namespace pondage::loop
