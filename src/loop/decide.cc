// What the pool's decisions change in the store, and what they order done afterwards.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "loop/turn.h"
#include "manifest/charge.h"
#include "manifest/kinds.h"
#include "manifest/object.h"
#include "manifest/tfjob.h"
#include "manifest/use.h"
#include "port/memory_store.h"

namespace pondage::loop {
namespace {

port::Key JobKey(const job::Identity& identity) {
  return {"tfjobs.kubeflow.org", identity.space, identity.name};
}

port::Key ReplicaKey(const char* kind, const job::Identity& identity, base::Role role, int index) {
  return {kind, identity.space, job::ReplicaName(identity.name, role, index)};
}

manifest::About AboutJob(const job::Identity& identity) {
  return {"kubeflow.org/v1", "TFJob", identity.space, identity.name, identity.uid};
}

bool IsOwnedBy(const port::Object& object, const job::Identity& identity) {
  return port::HasFacet(*object.facets, "o:" + identity.uid);
}

const std::vector<std::string>& FieldsOf(const std::string& storage) {
  static const auto fields = [] {
    std::map<std::string, std::vector<std::string>> made;
    for (const manifest::Kind& kind : manifest::Kinds()) {
      made[std::string(kind.storage)] = {kind.fields.begin(), kind.fields.end()};
    }
    return made;
  }();
  static const std::vector<std::string> none;
  const auto found = fields.find(storage);
  return found == fields.end() ? none : found->second;
}

}  // namespace

void Turner::PutObject(const port::Key& key, const boost::json::object& object, bool live,
                       std::optional<base::Instant> due) {
  manifest::Packed packed = manifest::Pack(object);
  const auto& uid = object.at("metadata").at("uid").as_string();
  pending_.Put({.key = key,
                .uid = std::string(uid),
                .body = std::move(packed.body),
                .splice = packed.splice,
                .facets = manifest::Facets(object, FieldsOf(key.kind)),
                .live = live,
                .due = due});
}

std::string Turner::UidOf(const base::ReplicaId& replica) const {
  const pool::JobView* job = loop_.pool_->Find(replica.job);
  REQUIRE(job != nullptr);
  return manifest::PodUid(job->identity, replica.role, replica.index, replica.incarnation);
}

void Turner::Decide(const pool::MakePod& decision) {
  const base::ReplicaId& id = decision.replica;
  const pool::JobView& job = *loop_.pool_->Find(id.job);
  const auto replica = std::ranges::find_if(
      job.status.replicas,
      [&](const job::Replica& candidate) { return candidate.Id(id.job) == id; });
  REQUIRE(replica != job.status.replicas.end() && replica->grant);
  const fleet::Place* place = loop_.pool_->fleet().Find(replica->grant->node);
  const port::Key key = ReplicaKey("pods", job.identity, id.role, id.index);
  if (const auto old = pending_.Get(key)) {  // the Pod of an earlier incarnation
    loop_.pods_.erase(old->uid);
    pending_.Delete(*old);
  }
  const auto pod = manifest::MakePod(job.identity, job.spec, job.status, *replica,
                                     place == nullptr ? nullptr : &place->node, now_);
  PutObject(key, pod, false, std::nullopt);
  NoteServed(job, id.role);
  const port::Key service = ReplicaKey("services", job.identity, id.role, id.index);
  if (const auto there = pending_.Get(service); there && !IsOwnedBy(*there, job.identity)) {
    Event(AboutJob(job.identity),
          {true, "FailedCreateService",
           fmt::format("Service {} is somebody else's and stays as it is", service.name)});
  } else if (!there && there.error().kind == base::Kind::kNotFound) {
    PutObject(service, manifest::MakeService(job.identity, job.spec, *replica, now_), false,
              std::nullopt);
    Event(AboutJob(job.identity),
          {false, "SuccessfulCreateService", "Created service: " + service.name});
  }
  loop_.pods_[UidOf(id)] = id;
  Event(AboutJob(job.identity), {false, "SuccessfulCreatePod", "Created pod: " + key.name});
}

void Turner::Decide(const pool::StartReplica& decision) {
  const pool::JobView& job = *loop_.pool_->Find(decision.replica.job);
  const auto pod =
      pending_.Get(ReplicaKey("pods", job.identity, decision.replica.role, decision.replica.index));
  if (!pod) {
    // Of the store itself: the turn is void. Else the Pod is damaged, and there is nothing to
    // start.
    if (pod.error().kind != base::Kind::kUnavailable) {
      facts_.emplace_back(
          pool::ReplicaNotStarted{.replica = decision.replica,
                                  .message = "its Pod cannot be read: " + SentenceOf(pod.error()),
                                  .ports_taken = {},
                                  .at = now_});
    }
    return;
  }
  const auto replica =
      std::ranges::find_if(job.status.replicas, [&](const job::Replica& candidate) {
        return candidate.Id(job.identity.id) == decision.replica;
      });
  REQUIRE(replica != job.status.replicas.end());
  orders_.push_back({.type = Order::Type::kStart,
                     .uid = pod->uid,
                     .body = *pod->body,
                     .start = replica->restarts});
}

void Turner::Decide(const pool::StopReplica& decision) {
  orders_.push_back({.type = Order::Type::kStop,
                     .uid = UidOf(decision.replica),
                     .grace = decision.deadline - now_});
}

void Turner::Decide(const pool::KillReplica& decision) {
  orders_.push_back({.type = Order::Type::kKill, .uid = UidOf(decision.replica)});
}

void Turner::Decide(const pool::RemovePod& decision) {
  const pool::JobView& job = *loop_.pool_->Find(decision.replica.job);
  const std::string uid = UidOf(decision.replica);
  loop_.pods_.erase(uid);
  const base::ReplicaId& id = decision.replica;
  if (const auto pod = pending_.Get(ReplicaKey("pods", job.identity, id.role, id.index));
      pod && pod->uid == uid) {
    pending_.Delete(*pod);
    Event(AboutJob(job.identity), {false, "SuccessfulDeletePod", "Deleted pod: " + pod->key.name});
  }
  if (const auto service = pending_.Get(ReplicaKey("services", job.identity, id.role, id.index));
      service && IsOwnedBy(*service, job.identity)) {
    pending_.Delete(*service);
    Event(AboutJob(job.identity),
          {false, "SuccessfulDeleteService", "Deleted service: " + service->key.name});
  }
}

void Turner::Decide(const pool::SetStatus& decision) {
  const pool::JobView& job = *loop_.pool_->Find(decision.job);
  if (!loop_.jobs_.contains(JobKey(job.identity))) return;  // forgotten in this step
  auto object = pending_.Parsed(JobKey(job.identity));
  if (!object) {  // it goes on in memory; the damage is told and not written over
    loop_.set_aside_.Put(JobKey(job.identity), {job.identity.uid, SentenceOf(object.error()), {}});
    return;
  }
  ShowReplicas(job);
  boost::json::object status = manifest::EncodeStatus(job.status);
  TellServed(job, *object, status);
  (*object)["status"] = std::move(status);
  PutObject(JobKey(job.identity), *object, /*live=*/true, std::nullopt);
  loop_.queue_due_ = std::min(loop_.queue_due_, now_ + base::Millis{1'000});
}

void Turner::NoteServed(const pool::JobView& job, base::Role role) {
  const auto found = job.spec.roles.find(role);
  if (found == job.spec.roles.end()) return;
  const std::string& image = found->second.image;
  auto& served = served_[job.identity.id];
  if (served.contains(image)) return;
  served[image] = loop_.launcher_->ServedBy(image);
}

namespace {

boost::json::object ServedIn(const boost::json::object& tfjob) {
  const boost::json::value* at = tfjob.if_contains("status");
  for (const char* member : {"pondage", "environments"}) {
    at = at != nullptr && at->is_object() ? at->get_object().if_contains(member) : nullptr;
  }
  return at != nullptr && at->is_object() ? at->get_object() : boost::json::object();
}

}  // namespace

// What its images stood for when it was bound last. It stands beside the pool's own status, which
// is written anew each time.
void Turner::TellServed(const pool::JobView& job, const boost::json::object& old,
                        boost::json::object& status) const {
  boost::json::object images = ServedIn(old);
  if (const auto bound = served_.find(job.identity.id); bound != served_.end()) {
    for (const auto& [image, text] : bound->second) {
      if (!text.empty()) images[image] = text;
    }
  }
  if (!images.empty()) status["pondage"].as_object()["environments"] = std::move(images);
}

// Each Pod whose replica looks different from what was last written of it gets its status anew.
void Turner::ShowReplicas(const pool::JobView& job) {
  std::vector<job::Replica>& shown = loop_.shown_[job.identity.id];
  for (const job::Replica& replica : job.status.replicas) {
    const auto before = std::ranges::find_if(shown, [&](const job::Replica& candidate) {
      return candidate.Id(job.identity.id) == replica.Id(job.identity.id);
    });
    if (before != shown.end() && *before == replica) continue;
    if (replica.present) ShowPod(job, replica);
  }
  shown = job.status.replicas;
}

void Turner::ShowPod(const pool::JobView& job, const job::Replica& replica) {
  const port::Key key = ReplicaKey("pods", job.identity, replica.role, replica.index);
  auto pod = pending_.Parsed(key);
  if (!pod) return;
  (*pod)["status"] = manifest::PodStatus(job.spec, replica, loop_.settings_.host_ip, now_);
  PutObject(key, *pod, false, std::nullopt);
}

void Turner::Decide(const pool::Emit& decision) {
  const pool::JobView* job = loop_.pool_->Find(decision.job);
  if (job != nullptr) Event(AboutJob(job->identity), decision.note);
}

void Turner::Event(const manifest::About& about, const job::Note& note) {
  const std::string name = fmt::format("{}.{:016x}", about.name, pending_.NextRevision());
  const auto event = manifest::MakeEvent(about, note, "tfjob-controller", name, now_);
  PutObject({"events", about.space.empty() ? "default" : about.space, name}, event, false,
            now_ + loop_.settings_.event_ttl);
}

void Turner::Decide(const pool::CloseCharge& decision) {
  ledger::Entry entry = decision.entry;
  entry.environment = ServedThen(entry);
  pending_.Append({"ledger", manifest::EncodeCharge(entry)});
}

void Turner::Decide(const pool::SetUse& decision) {
  const port::Key key{std::string(manifest::kUses), "", decision.queue};
  if (const auto* users = loop_.pool_->queues().UsesIn(decision.queue)) {
    return PutObject(key, manifest::EncodeUses(decision.queue, *users), /*live=*/true,
                     std::nullopt);
  }
  if (const auto kept = pending_.Get(key)) pending_.Delete(*kept);
}

void Turner::Decide(const pool::Planned& decision) {
  PutObject({std::string(manifest::kPlans), "", "last"}, manifest::EncodePlanned(decision.at),
            /*live=*/true, std::nullopt);
}

// What served the image of a replica whose interval ends. The job is read once a turn.
std::string Turner::ServedThen(const ledger::Entry& entry) {
  const auto [stored, is_new] = served_then_.try_emplace(entry.replica.job);
  if (const std::size_t slash = entry.job.find('/'); is_new && slash != std::string::npos) {
    const auto job = pending_.Parsed(
        {"tfjobs.kubeflow.org", entry.job.substr(0, slash), entry.job.substr(slash + 1)});
    if (job) stored->second = ServedIn(*job);
  }
  if (const auto* text = stored->second.if_contains(entry.image); text && text->is_string())
    return std::string(text->get_string());
  // Bound in this very turn.
  const auto bound = served_.find(entry.replica.job);
  if (bound == served_.end()) return "";
  const auto now = bound->second.find(entry.image);
  return now == bound->second.end() ? "" : now->second;
}

void Turner::Decide(const pool::ForgetJob& decision) {
  const pool::JobView& job = *loop_.pool_->Find(decision.job);
  ForgetLogs(job.identity, job.status);
  std::erase_if(loop_.pods_, [&](const auto& pod) { return pod.second.job == decision.job; });
  loop_.shown_.erase(decision.job);
  if (const auto object = Doomed(JobKey(job.identity), job.identity.uid)) Remove(*object, false);
  loop_.jobs_.erase(JobKey(job.identity));
  auto held = pending_.Parsed(JobKey(job.identity));
  if (!held) return;
  // Finalizers hold it: it stays to be seen, with nothing behind it.
  if (!job.spec.managed_elsewhere) (*held)["status"] = manifest::EncodeStatus(job.status);
  PutObject(JobKey(job.identity), *held, /*live=*/false, std::nullopt);
}

void Turner::Decide(const pool::JobEnded& decision) {
  const pool::JobView& job = *loop_.pool_->Find(decision.job);
  std::erase_if(loop_.pods_, [&](const auto& pod) { return pod.second.job == decision.job; });
  loop_.shown_.erase(decision.job);
  loop_.jobs_.erase(JobKey(job.identity));
  const auto object = pending_.Parsed(JobKey(job.identity));
  if (!object) return;
  if (decision.expires == base::kNever) ++kept_more_;
  PutObject(JobKey(job.identity), *object, /*live=*/false, ExpiryOf(decision.expires, job.status));
}

void Turner::Decide(const pool::WakeAt& decision) {
  loop_.pool_wake_ = decision.at;
}

}  // namespace pondage::loop
