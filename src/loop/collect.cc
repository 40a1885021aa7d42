// What goes with a deleted object: its dependents, its programs' logs, a namespace's content.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "loop/turn.h"
#include "manifest/kinds.h"
#include "manifest/object.h"
#include "manifest/tfjob.h"

namespace pondage::loop {
namespace {

constexpr std::string_view kTfJobs = "tfjobs.kubeflow.org";

const boost::json::value* MetadataAt(const boost::json::object& object, std::string_view key) {
  const auto* metadata = object.if_contains("metadata");
  return metadata != nullptr && metadata->is_object() ? metadata->get_object().if_contains(key)
                                                      : nullptr;
}

bool HasFinalizers(const boost::json::object& object) {
  const auto* finalizers = MetadataAt(object, "finalizers");
  return finalizers != nullptr && finalizers->is_array() && !finalizers->get_array().empty();
}

}  // namespace

// What is to be deleted. One that cannot be read goes too: people are told to delete it, and what
// is known of it is its name.
base::Result<port::Object> Turner::Doomed(const port::Key& key, const std::string& uid) const {
  auto object = pending_.Get(key);
  if (object || object.error().kind != base::Kind::kCorrupt) return object;
  const auto kinds = manifest::Kinds();
  const auto kind = std::ranges::find(kinds, key.kind, &manifest::Kind::storage);
  if (kind == kinds.end()) return object;
  boost::json::object metadata{{"name", key.name}, {"uid", uid}};
  if (!key.space.empty()) metadata["namespace"] = key.space;
  const std::string group(kind->group);
  manifest::Packed packed = manifest::Pack(
      {{"apiVersion", group + (group.empty() ? "" : "/") + std::string(kind->version)},
       {"kind", kind->kind},
       {"metadata", std::move(metadata)}});
  return port::Object{.key = key,
                      .uid = uid,
                      .body = std::make_shared<const std::string>(std::move(packed.body)),
                      .splice = packed.splice,
                      .facets = std::make_shared<const std::string>()};
}

bool Turner::IsReleased(const port::Key& key, const port::Object& before) const {
  const auto now = pending_.Parsed(key);
  const auto old = manifest::ParseJson(*before.body);
  return now && old && old->is_object() && MetadataAt(*now, "deletionTimestamp") != nullptr &&
         HasFinalizers(old->get_object()) && !HasFinalizers(*now);
}

void Turner::Remove(const port::Object& object, bool orphan) {
  const auto parsed = pending_.Parsed(object.key);
  if (!parsed && parsed.error().kind != base::Kind::kCorrupt) return;
  CountKept(object.key, object.body.get(), nullptr);
  if (parsed && HasFinalizers(*parsed)) return MarkDeleting(object, base::Millis{0});
  if (HoldClaim(object)) return;
  pending_.Delete(object);
  if (loop_.set_aside_.Contains(object.key)) loop_.set_aside_.Remove(object.key);
  if (object.key.kind == kTfJobs) {
    deleted_in_.push_back(object.key.space);
    orders_.push_back({.type = Order::Type::kDiscard, .body = *object.body});
  }
  if (object.key.kind == "queues.pondage.dev") {
    facts_.emplace_back(pool::QueueRemoved{object.key.name});
  } else if (object.key.kind == "nodes") {
    facts_.emplace_back(pool::NodeLost{object.key.name});
  } else if (object.key.kind == "priorityclasses.scheduling.k8s.io") {
    loop_.priorities_.erase(object.key.name);
    RereadPriorities(object.key.name);
  }
  if (!object.uid.empty()) ownerless_.push_back({object.uid, orphan});
}

void Turner::RemoveJob(const port::Object& object) {
  const auto job = loop_.jobs_.find(object.key);
  if (job != loop_.jobs_.end()) {
    facts_.emplace_back(pool::JobRemoved{job->second});
    MarkDeleting(object, base::Millis{0});
    return;
  }
  if (loop_.set_aside_.Contains(object.key)) return RemoveSetAside(object);
  if (const auto ended =
          manifest::DecodeTfJob(*object.body, [](const std::string&) { return 0; })) {
    ForgetLogs(ended->identity, ended->status);
  }
  Remove(object, false);
}

// Nothing is known of how to leave politely: its programs are killed, and what they hold is free
// once their end is seen.
void Turner::RemoveSetAside(const port::Object& object) {
  if (const auto& job = loop_.set_aside_.Find(object.key)->job) {
    const std::vector<std::string> uids = loop_.set_aside_.Abandon(*job);
    for (const std::string& uid : uids) {
      orders_.push_back({.type = Order::Type::kKill, .uid = uid});
    }
    if (uids.empty()) facts_.emplace_back(pool::GpusFreed{*job});
  }
  loop_.set_aside_.Remove(object.key);
  Remove(object, false);
}

// True when a program stands behind the Pod: it is asked to leave, and the Pod goes when it has.
bool Turner::RemovePod(const port::Object& object, std::optional<base::Millis> grace) {
  const auto replica = loop_.pods_.find(object.uid);
  if (replica == loop_.pods_.end()) return false;
  const pool::JobView* job = loop_.pool_->Find(replica->second.job);
  if (job == nullptr || job->status.stage == job::Stage::kEnded) return false;
  pool::PodDeleting fact{replica->second, {}};
  if (grace) fact.by = now_ + *grace;
  facts_.emplace_back(fact);
  const auto role = job->spec.roles.find(replica->second.role);
  MarkDeleting(object, grace                           ? *grace
                       : role == job->spec.roles.end() ? base::Millis{0}
                                                       : role->second.grace);
  return true;
}

void Turner::MarkDeleting(const port::Object& object, base::Millis grace) {
  auto parsed = pending_.Parsed(object.key);
  if (!parsed) return;
  if (!(*parsed)["metadata"].is_object()) return;
  boost::json::object& metadata = (*parsed)["metadata"].as_object();
  const std::string by = manifest::FormatTime(now_ + grace);
  // Asked for again: it may be earlier, never later.
  if (const auto* before = metadata.if_contains("deletionTimestamp");
      before != nullptr && before->is_string() && before->get_string() <= by) {
    return;
  }
  metadata["deletionTimestamp"] = by;
  metadata["deletionGracePeriodSeconds"] = grace.value / 1000;
  PutObject(object.key, *parsed, IsLive(object.key), std::nullopt);
}

// A list and not a recursion: owners may form chains as long as anybody likes, and circles.
void Turner::Collect() {
  while (!ownerless_.empty()) {
    const Loop::Ownerless next = std::move(ownerless_.back());
    ownerless_.pop_back();
    bool seen = true;
    for (const manifest::Kind& kind : manifest::Kinds()) {
      if (!kind.namespaced || kind.storage.empty()) continue;
      const auto owned =
          pending_.List({.kind = std::string(kind.storage), .facet = "o:" + next.uid});
      seen = seen && owned;
      if (!owned) {
        loop_.Complain("see what a deleted object owned", owned.error());
        continue;
      }
      for (const port::Object& object : *owned) LoseOwner(object, next);
    }
    if (!seen) unseen_.push_back(next);
  }
}

// Those whose dependents could not all be read when they went: perhaps they can be now.
void Turner::LookAgain() {
  looked_again_ = loop_.look_again_ <= now_;
  if (looked_again_)
    ownerless_.insert(ownerless_.end(), loop_.ownerless_.begin(), loop_.ownerless_.end());
}

// Once the turn is durable.
void Turner::NoteUnseen() {
  constexpr base::Millis kAgain{60'000};
  if (looked_again_) loop_.ownerless_.clear();
  loop_.ownerless_.insert(loop_.ownerless_.end(), unseen_.begin(), unseen_.end());
  if (looked_again_ || !unseen_.empty()) {
    loop_.look_again_ = loop_.ownerless_.empty() ? base::kNever : now_ + kAgain;
  }
}

void Turner::LoseOwner(const port::Object& object, const Loop::Ownerless& owner) {
  const auto now = pending_.Get(object.key);
  if (!now || now->uid != object.uid) return;
  if (owner.orphan || IsOwnedElsewhere(*now, owner.uid)) {
    DropOwner(*now, owner.uid);
  } else if (object.key.kind == kTfJobs) {
    RemoveJob(*now);
  } else {
    Remove(*now, false);
  }
}

// What another owner that is there owns too stays with that one, as in Kubernetes.
bool Turner::IsOwnedElsewhere(const port::Object& object, const std::string& uid) const {
  const auto parsed = pending_.Parsed(object.key);
  if (!parsed) return false;
  return std::ranges::any_of(manifest::OwnersOf(*parsed), [&](const manifest::Owner& owner) {
    if (owner.uid == uid) return false;
    const manifest::Kind* kind = manifest::FindKindByName(owner.group, owner.kind);
    if (kind == nullptr) return false;
    const port::Key key{std::string(kind->storage), kind->namespaced ? object.key.space : "",
                        owner.name};
    const auto there = pending_.Get(key);
    return there && there->uid == owner.uid;
  });
}

void Turner::DropOwner(const port::Object& object, const std::string& uid) {
  auto parsed = pending_.Parsed(object.key);
  if (!parsed) return;
  boost::json::value& owners = (*parsed)["metadata"].as_object()["ownerReferences"];
  if (!owners.is_array()) return;
  boost::json::array left;
  for (const boost::json::value& owner : owners.get_array()) {
    const auto* owner_uid = owner.is_object() ? owner.get_object().if_contains("uid") : nullptr;
    if (owner_uid == nullptr || *owner_uid != boost::json::value(uid)) left.push_back(owner);
  }
  owners = std::move(left);
  PutObject(object.key, *parsed, IsLive(object.key), DueOf(object.key, *object.body));
}

// What will be there after the changes so far.
base::Result<std::vector<port::Object>> Turner::Inside(const std::string& space,
                                                       std::string_view kind) const {
  const std::vector<port::Key> changed = pending_.Changed(kind, space);
  std::set<port::Key> keys(changed.begin(), changed.end());
  TRY(const auto stored, pending_.List({.kind = std::string(kind), .space = space}));
  for (const port::Object& object : stored) keys.insert(object.key);
  std::vector<port::Object> left;
  for (const port::Key& key : keys) {
    if (auto now = pending_.Get(key)) left.push_back(*std::move(now));
  }
  return left;
}

void Turner::EmptyNamespace(const std::string& name) {
  const port::Key key{"namespaces", "", name};
  auto parsed = pending_.Parsed(key);
  if (!parsed) return;
  (*parsed)["metadata"].as_object()["deletionTimestamp"] = manifest::FormatTime(now_);
  (*parsed)["status"] = boost::json::object{{"phase", "Terminating"}};
  PutObject(key, *parsed, /*live=*/true, std::nullopt);
  loop_.terminating_.insert(name);
}

// All of them at first, later one that was created while the namespace was asked to go.
void Turner::RemoveJobsOfNamespaces() {
  for (const std::string& name : loop_.terminating_) {
    const auto jobs = Inside(name, kTfJobs);
    if (!jobs) loop_.Complain("empty namespace " + name, jobs.error());
    for (const port::Object& job : jobs ? *jobs : std::vector<port::Object>()) {
      if (!manifest::IsBeingDeleted(*job.body)) RemoveJob(job);
    }
  }
}

void Turner::FinishNamespaces() {
  for (auto name = loop_.terminating_.begin(); name != loop_.terminating_.end();) {
    if (!FinishNamespace(*name)) {
      ++name;
      continue;
    }
    if (const auto object = pending_.Get({"namespaces", "", *name})) pending_.Delete(*object);
    loop_.ended_spaces_.insert(*name);
    name = loop_.terminating_.erase(name);
  }
}

// Programs end first, and what a job says when it goes (Events) goes last. True: nothing is left.
bool Turner::FinishNamespace(const std::string& name) {
  const auto jobs = Inside(name, kTfJobs);
  if (!jobs || !jobs->empty()) return false;
  bool empty = true;
  for (const manifest::Kind& kind : manifest::Kinds()) {
    if (!kind.namespaced || kind.storage.empty()) continue;
    const auto objects = Inside(name, kind.storage);
    for (const port::Object& object : objects ? *objects : std::vector<port::Object>()) {
      Remove(object, false);
    }
    const auto left = Inside(name, kind.storage);
    empty = empty && left && left->empty();
  }
  return empty;
}

void Turner::ForgetLogs(const job::Identity& identity, const job::Status& status) {
  for (const job::Replica& replica : status.replicas) {
    for (int incarnation = 1; incarnation <= replica.incarnation; ++incarnation) {
      orders_.push_back(
          {.type = Order::Type::kErase,
           .uid = manifest::PodUid(identity, replica.role, replica.index, incarnation)});
    }
  }
}

}  // namespace pondage::loop
