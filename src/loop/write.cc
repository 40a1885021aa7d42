// What a client's write changes, and what it means to the pool.
#include <algorithm>

#include "loop/turn.h"
#include "manifest/object.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"

namespace pondage::loop {
namespace {

constexpr std::string_view kTfJobs = "tfjobs.kubeflow.org";
constexpr std::string_view kQueues = "queues.pondage.dev";
constexpr std::string_view kPriorityClasses = "priorityclasses.scheduling.k8s.io";

bool ReadAtStart(const std::string& kind) {
  return kind == kTfJobs || kind == kQueues || kind == kPriorityClasses || kind == "nodes";
}

}  // namespace

void Turner::Take(Loop::WriteInput& input) {
  const port::Write& write = input.write;
  Answer answer{.done = std::move(input.done),
                .object = write.dry_run ? DryRun(write) : Apply(write),
                .is_delete = write.op == port::Write::Op::kDelete,
                .dry_run = write.dry_run};
  answers_.push_back(std::move(answer));
}

// Whether a load after a restart has to read an object that is stored already.
bool Turner::IsLive(const port::Key& key) const {
  if (loop_.set_aside_.Contains(key)) return true;
  if (key.kind == kTfJobs) return loop_.jobs_.contains(key);  // one that has ended is history
  if (key.kind == "namespaces") return loop_.terminating_.contains(key.name);
  if (loop_.leaving_claims_.contains(key)) return true;
  return ReadAtStart(key.kind);
}

base::Result<void> Turner::Expect(const port::Write& write, const port::Object& old) const {
  const bool moved = write.expected && *write.expected != old.revision;
  const bool another = !write.expected_uid.empty() && write.expected_uid != old.uid;
  if (moved || another) {
    return base::Fail(base::Kind::kConflict, "PND-A004", write.change.key.name,
                      "the object has been modified; please apply your changes to the latest "
                      "version and try again");
  }
  return {};
}

base::Result<port::Object> Turner::Apply(const port::Write& write) {
  if (write.op == port::Write::Op::kCreate) return ApplyCreate(write);
  const port::Key& key = write.change.key;
  if (write.op == port::Write::Op::kDelete) {
    const SetAside::Object* aside = loop_.set_aside_.Find(key);
    TRY(const port::Object doomed, Doomed(key, aside == nullptr ? "" : aside->uid));
    TRY_DO(Expect(write, doomed));
    return ApplyDelete(write, doomed);
  }
  TRY(const port::Object old, pending_.Get(key));
  TRY_DO(Expect(write, old));
  return ApplyReplace(write, old);
}

base::Result<port::Object> Turner::ApplyCreate(const port::Write& write) {
  if (const auto there = pending_.Get(write.change.key);
      there || there.error().kind != base::Kind::kNotFound) {
    if (!there) return there;
    return base::Fail(base::Kind::kAlreadyExists, "PND-A005", write.change.key.name,
                      "already exists");
  }
  TRY_DO(ExpectSpace(write.change.key));
  port::Change change = write.change;
  change.live = ReadAtStart(change.key.kind);
  if (change.key.kind == "events") change.due = now_ + loop_.settings_.event_ttl;
  TRY_DO(Understand(change, pending_.NextRevision(), /*is_new=*/true, write.user));
  port::Object created = pending_.Put(std::move(change));
  for (const port::Change& each : write.with) {
    if (!pending_.Get(each.key)) pending_.Put(each);
  }
  return created;
}

// The API looked before; between its look and this write the namespace may have gone.
base::Result<void> Turner::ExpectSpace(const port::Key& key) {
  if (key.kind == "namespaces") loop_.ended_spaces_.erase(key.name);
  if (key.space.empty()) return {};
  if (loop_.terminating_.contains(key.space)) {
    return base::Fail(base::Kind::kForbidden, "", key.name,
                      "namespace " + key.space + " is being terminated");
  }
  if (loop_.ended_spaces_.contains(key.space)) {
    return base::Fail(base::Kind::kNotFound, "", key.space, "not found");
  }
  return {};
}

// Whose status is another controller's to write.
bool Turner::IsManagedElsewhere(base::JobId id) const {
  const pool::JobView* job = loop_.pool_->Find(id);
  return job != nullptr && job->spec.managed_elsewhere;
}

base::Result<port::Object> Turner::ApplyReplace(const port::Write& write, const port::Object& old) {
  if (*old.body == write.change.body) return old;  // nothing changed: same revision, no event
  const auto job = loop_.jobs_.find(write.change.key);
  if (write.status_only && job != loop_.jobs_.end() && !IsManagedElsewhere(job->second)) {
    return base::Fail(base::Kind::kForbidden, "PND-A011", write.change.key.name,
                      "the status of a running TFJob is written by the pool alone");
  }
  port::Change change = write.change;
  change.live = IsLive(change.key);
  change.due = DueOf(change.key, change.body);
  reload_ = reload_ || loop_.set_aside_.Contains(change.key);
  TRY_DO(Understand(change, old.created, /*is_new=*/false, write.user));
  CountKept(change.key, old.body.get(), &change.body);
  port::Object put = pending_.Put(std::move(change));
  // It was only held by its finalizers, and goes with the last of them.
  if (!IsReleased(put.key, old)) return put;
  return ApplyDelete({.op = port::Write::Op::kDelete, .change = {.key = put.key}}, put);
}

base::Result<port::Object> Turner::ApplyDelete(const port::Write& write, const port::Object& old) {
  const std::string& kind = old.key.kind;
  if (kind == "namespaces") {
    EmptyNamespace(old.key.name);
  } else if (kind == kTfJobs) {
    RemoveJob(old);
  } else if (kind == "pods" && loop_.set_aside_.Runs(old.uid)) {
    return base::Fail(base::Kind::kForbidden, "PND-S003", old.key.name,
                      "the TFJob of this Pod cannot be read: mend or delete that one");
  } else if (kind != "pods" || !RemovePod(old, write.grace)) {
    Remove(old, write.orphan);
  }
  Collect();
  // What is left of it, else its last state.
  auto left = pending_.Get(old.key);
  return left ? *left : old;
}

// What the pool learns from an object that is about to be stored.
base::Result<void> Turner::Understand(const port::Change& change, port::Revision created,
                                      bool is_new, const std::string& user) {
  const std::string& kind = change.key.kind;
  if (kind == kTfJobs) return UnderstandJob(change, created, is_new, user);
  if (kind == kQueues) {
    TRY(queue::Spec spec, manifest::DecodeQueue(change.body));
    facts_.emplace_back(pool::QueuePut{std::move(spec)});
  } else if (kind == "nodes") {
    TRY(fleet::Node node, manifest::DecodeNode(change.body));
    facts_.emplace_back(pool::NodeSeen{std::move(node)});
  } else if (kind == kPriorityClasses) {
    TRY(const int value, manifest::DecodePriorityClass(change.body));
    loop_.priorities_[change.key.name] = value;
    RereadPriorities(change.key.name);
  }
  return {};
}

// A class that comes or goes means something to the jobs that name it already, as it would after a
// restart.
void Turner::RereadPriorities(const std::string& priority_class) {
  const std::string quoted = '"' + priority_class + '"';
  for (const auto& [key, id] : loop_.jobs_) {
    const auto object = pending_.Get(key);
    if (!object || !object->body->contains(quoted)) continue;
    auto job = manifest::DecodeTfJob(*object->body, loop_.Priorities());
    if (!job) continue;
    job->identity.id = id;
    facts_.emplace_back(pool::JobApplied{std::move(job->identity), std::move(job->spec)});
  }
}

// Of a job that is stored already, or was created in this turn.
std::optional<std::string> Turner::QueueOf(const port::Key& key, base::JobId id) const {
  if (const pool::JobView* known = loop_.pool_->Find(id)) return known->spec.queue;
  const auto object = pending_.Get(key);
  if (!object) return std::nullopt;
  const auto job = manifest::DecodeTfJob(*object->body, loop_.Priorities());
  return job ? std::optional(job->spec.queue) : std::nullopt;
}

// A job that has ended is not the pool's any more, whatever a client writes of its status: it never
// runs again.
base::Result<void> Turner::UnderstandJob(const port::Change& change, port::Revision created,
                                         bool is_new, const std::string& user) {
  TRY(manifest::TfJob job, manifest::DecodeTfJob(change.body, loop_.Priorities()));
  job.identity.id = {created};
  if (!is_new && !loop_.jobs_.contains(change.key)) return {};
  if (const auto queue = QueueOf(change.key, job.identity.id); queue && *queue != job.spec.queue) {
    return base::Fail(base::Kind::kInvalid, "", change.key.name, "the queue of a job is immutable");
  }
  loop_.jobs_[change.key] = job.identity.id;
  if (is_new) created_in_.push_back(change.key.space);
  facts_.emplace_back(pool::JobApplied{std::move(job.identity), std::move(job.spec), user});
  return {};
}

// The answer as if it were real. For a new TFJob that is the plan: where it would start, or why
// not.
base::Result<port::Object> Turner::DryRun(const port::Write& write) {
  const auto old = pending_.Get(write.change.key);
  if (write.op == port::Write::Op::kCreate) {
    if (old) {
      return base::Fail(base::Kind::kAlreadyExists, "PND-A005", write.change.key.name,
                        "already exists");
    }
  } else {
    if (!old) return old;
    TRY_DO(Expect(write, *old));
    if (write.op == port::Write::Op::kDelete) return old;
  }
  port::Object answer{.key = write.change.key,
                      .uid = write.change.uid,
                      .revision = old ? old->revision : 0,
                      .body = std::make_shared<const std::string>(write.change.body),
                      .splice = write.change.splice};
  if (old || write.change.key.kind != kTfJobs) return answer;
  TRY(manifest::TfJob job, manifest::DecodeTfJob(write.change.body, loop_.Priorities()));
  job.identity.id = {pending_.NextRevision()};
  const job::Status status =
      loop_.pool_->Preview(job.identity, job.spec, LackOf(job.spec, job.identity.space), now_);
  TRY(boost::json::value body, manifest::ParseJson(write.change.body));
  body.as_object()["status"] = manifest::EncodeStatus(status);
  manifest::Packed packed = manifest::Pack(body.as_object());
  answer.body = std::make_shared<const std::string>(std::move(packed.body));
  answer.splice = packed.splice;
  return answer;
}

}  // namespace pondage::loop
