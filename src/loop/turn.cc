#include "loop/turn.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/assert.h"
#include "base/utf8.h"
#include "manifest/kinds.h"
#include "manifest/object.h"
#include "manifest/queue.h"

namespace pondage::loop {
namespace {

const std::string& UidOfReading(const port::Reading& reading) {
  return std::visit(
      [](const auto& said) -> const std::string& {
        static const std::string none;
        if constexpr (requires { said.uid; }) return said.uid;
        return none;
      },
      reading);
}

// With what it can be looked up by.
std::string TextOf(const port::NotStarted& failure) {
  const std::string text = base::ToUtf8(failure.message);
  return failure.id.empty() ? text : text + " (" + failure.id + ")";
}

// The replica and start that it ends; none: it goes on.
std::optional<std::pair<std::string, int>> EndOf(const port::Reading& reading) {
  if (const auto* exit = std::get_if<port::Exited>(&reading)) return {{exit->uid, exit->start}};
  if (const auto* none = std::get_if<port::NotStarted>(&reading)) return {{none->uid, none->start}};
  return std::nullopt;
}

int CodeOf(const port::NotStarted& failure) {
  if (failure.not_found) return 127;
  return failure.not_executable ? 126 : 128;
}

job::Exit ExitOf(const port::Exited& exited) {
  return {.code = exited.code,
          .reason = exited.reason == "Lost" ? "NodeLost" : base::ToUtf8(exited.reason),
          .message = base::ToUtf8(exited.message),
          .at = exited.at,
          .at_monotonic_ms = exited.at_monotonic_ms,
          .boot_id = exited.boot_id};
}

}  // namespace

void Turner::Take(const port::Reading& reading) {
  if (std::holds_alternative<port::AllTold>(reading)) {
    facts_.emplace_back(pool::ProgramsHeard{});
    return;
  }
  const auto pod = loop_.pods_.find(UidOfReading(reading));
  if (const auto end = EndOf(reading)) {
    const bool ran = std::holds_alternative<port::Exited>(reading);
    if (loop_.set_aside_.Runs(end->first)) return TakeLast(end->first, end->second, ran);
    orders_.push_back({.type = Order::Type::kForget, .uid = end->first, .start = end->second});
  }
  if (pod == loop_.pods_.end()) return;  // of a job that is gone
  const base::ReplicaId id = pod->second;
  if (IsStale(id, reading)) return;
  if (const auto* started = std::get_if<port::Started>(&reading)) {
    facts_.emplace_back(pool::ReplicaStarted{id, started->at});
  } else if (const auto* failure = std::get_if<port::NotStarted>(&reading)) {
    facts_.emplace_back(pool::ReplicaNotStarted{id, CodeOf(*failure), TextOf(*failure),
                                                failure->ports_taken, now_});
  } else if (const auto* delay = std::get_if<port::Delayed>(&reading)) {
    TellDelay(id, *delay);
  } else if (const auto* said = std::get_if<port::Said>(&reading)) {
    facts_.emplace_back(pool::ReplicaSaid{id, said->step});
    if (said->checkpoint_step >= 0) {
      TakeCheckpoint(id.job, said->checkpoint_step, said->at, said->checkpoint_path);
    }
  } else if (const auto* saved = std::get_if<port::Saved>(&reading)) {
    TakeCheckpoint(id.job, saved->step, saved->at, saved->path);
  } else if (const auto* exited = std::get_if<port::Exited>(&reading)) {
    facts_.emplace_back(pool::ReplicaExited{id, ExitOf(*exited)});
  }
}

// Where people look for why nothing moves: an Event on the job, and the log.
void Turner::TellDelay(const base::ReplicaId& id, const port::Delayed& delay) {
  const job::Identity& job = loop_.pool_->Find(id.job)->identity;
  const std::string text =
      fmt::format("still preparing {}: {}", job::ReplicaName(job.name, id.role, id.index),
                  base::ToUtf8(delay.message));
  spdlog::warn("{}: {}", job.Path(), text);
  Event({"kubeflow.org/v1", "TFJob", job.space, job.name, job.uid}, {true, "StillPreparing", text});
}

// A file's name is any bytes; what is stored and shown is text.
void Turner::TakeCheckpoint(base::JobId job, std::int64_t step, base::Instant at,
                            const std::string& path) {
  facts_.emplace_back(pool::CheckpointSeen{job, {step, at, base::ToUtf8(path)}});
}

// The end of a program whose TFJob cannot be read: the runner keeps it for whoever mends the
// object. A start that came to nothing it forgets: else it would not carry out the one that the
// mended object orders again.
void Turner::TakeLast(const std::string& uid, int start, bool ran) {
  const SetAside::End end = loop_.set_aside_.Exit(uid);
  if (end.abandoned || !ran)
    orders_.push_back({.type = Order::Type::kForget, .uid = uid, .start = start});
  if (!end.abandoned) return;
  orders_.push_back({.type = Order::Type::kErase, .uid = uid});
  if (end.was_last) facts_.emplace_back(pool::GpusFreed{end.job});
}

// About an earlier start of the same Pod: an exit that was told twice must not end the next start.
bool Turner::IsStale(const base::ReplicaId& id, const port::Reading& reading) const {
  const pool::JobView* job = loop_.pool_->Find(id.job);
  if (job == nullptr) return true;
  return std::visit(
      [&](const auto& said) {
        if constexpr (requires { said.start; }) {
          return std::ranges::none_of(job->status.replicas, [&](const job::Replica& replica) {
            return replica.Id(id.job) == id && replica.restarts == said.start;
          });
        }
        return false;
      },
      reading);
}

void Turner::Take(const Loop::NodeInput& input) {
  const port::Key key{"nodes", "", input.node.name};
  if (loop_.set_aside_.Contains(key)) {  // what people wrote on it is unknown and stays
    facts_.emplace_back(pool::NodeSeen{input.node});
    return;
  }
  boost::json::object node = manifest::MakeNode(input.node, input.machine, now_);
  if (const auto stored = pending_.Parsed(key)) {
    // What people set on the node stays: cordon, labels, annotations, age.
    boost::json::object merged = *stored;
    for (const char* words : {"labels", "annotations"}) {
      boost::json::value& kept = merged["metadata"].as_object()[words];
      if (!kept.is_object()) kept.emplace_object();
      for (const auto& word : node["metadata"].as_object()[words].as_object()) {
        kept.get_object()[word.key()] = word.value();
      }
    }
    merged["status"] = node["status"];
    node = std::move(merged);
  }
  PutObject(key, node, /*live=*/true, std::nullopt);
  if (auto seen = manifest::DecodeNode(*pending_.Get(key)->body)) {
    facts_.emplace_back(pool::NodeSeen{std::move(*seen)});
  }
}

// Where people look: an Event on each object that was set aside.
void Turner::TellSetAside() {
  for (const port::Key& key : loop_.set_aside_.TakeNews()) {
    const SetAside::Object* object = loop_.set_aside_.Find(key);
    const auto kinds = manifest::Kinds();
    const auto kind = std::ranges::find(kinds, key.kind, &manifest::Kind::storage);
    if (object == nullptr || kind == kinds.end()) continue;
    const std::string version =
        std::string(kind->group) + (kind->group.empty() ? "" : "/") + std::string(kind->version);
    Event({version, std::string(kind->kind), key.space, key.name, object->uid},
          {true, "Unreadable",
           fmt::format("PND-S003: {}; it is left as it is{}", object->trouble,
                       object->job ? ", and its GPUs and programs are kept" : "")});
  }
}

void Turner::Step() {
  LookAgain();
  RemoveJobsOfNamespaces();
  Collect();
  TellLacks();
  decisions_ = loop_.pool_->Step(facts_, now_);
  facts_.clear();  // what is noted from here on the pool learns in the next turn
  for (const pool::Decision& decision : decisions_) {
    std::visit([this](const auto& decided) { Decide(decided); }, decision);
  }
  if (!loop_.terminating_.empty()) FinishNamespaces();
  Collect();
  ReleaseClaims();
  Collect();
  TellLacks();
  TellSetAside();
  if (loop_.queue_due_ <= now_) ShowQueues();
}

// A queue's numbers are for people: written at most once a second.
void Turner::ShowQueues() {
  loop_.queue_due_ = base::kNever;
  if (loop_.numbers_) loop_.numbers_->Show(*loop_.pool_, loop_.set_aside_.size());
  std::map<std::string, std::pair<int, int>> counts;
  for (const auto& [id, job] : loop_.pool_->jobs()) {
    auto& [waiting, running] = counts[job.spec.queue];
    if (job.status.stage == job::Stage::kWaiting && !job.spec.suspend) ++waiting;
    if (job.status.stage == job::Stage::kBound) ++running;
  }
  for (const queue::Spec* spec : loop_.pool_->queues().All()) {
    const port::Key key{"queues.pondage.dev", "", spec->name};
    auto object = pending_.Parsed(key);
    if (!object) continue;
    const auto [waiting, running] = counts[spec->name];
    boost::json::object status =
        manifest::QueueStatus(loop_.pool_->queues().Used(spec->name),
                              loop_.pool_->queues().Borrowed(spec->name), waiting, running);
    if (const auto* before = object->if_contains("status");
        before != nullptr && *before == status) {
      continue;
    }
    (*object)["status"] = std::move(status);
    PutObject(key, *object, /*live=*/true, std::nullopt);
  }
}

base::Result<void> Turner::Commit() {
  std::optional<base::Error> trouble = pending_.trouble();
  if (!trouble && !pending_.empty()) {
    if (auto committed = loop_.store_.Commit(pending_.batch()); !committed) {
      trouble = std::move(committed).error();
    }
  }
  if (!trouble) return {};
  for (Answer& answer : answers_) answer.done(std::unexpected(*trouble));
  return std::unexpected(*std::move(trouble));
}

void Turner::CountTurn() {
  if (!loop_.numbers_) return;
  for (const std::string& space : created_in_) loop_.numbers_->CountCreated(space);
  for (const std::string& space : deleted_in_) loop_.numbers_->CountDeleted(space);
  loop_.numbers_->Count(*loop_.pool_, decisions_);
}

void Turner::CarryOut() {
  loop_.noted_ = std::move(facts_);
  CountTurn();
  NoteWhatIsDue();
  NoteUnseen();
  for (Answer& answer : answers_) {
    if (!answer.object) {
      answer.done(std::unexpected(std::move(answer.object).error()));
      continue;
    }
    port::Written written{.object = *answer.object};
    if (!answer.dry_run) {
      const auto now = pending_.Get(written.object.key);
      if (now && now->uid == written.object.uid) {
        written.object = *now;
      } else {
        written.gone = answer.is_delete;
      }
    }
    answer.done(std::move(written));
  }
  for (const Order& order : orders_) {
    switch (order.type) {
      case Order::Type::kStart:
        loop_.Launch(order.uid, order.body, order.start);
        break;
      case Order::Type::kStop:
        loop_.runner_.Stop(order.uid, order.grace);
        break;
      case Order::Type::kKill:
        loop_.runner_.Kill(order.uid);
        break;
      case Order::Type::kForget:
        loop_.runner_.Forget(order.uid, order.start);
        break;
      case Order::Type::kErase:
        loop_.runner_.Erase(order.uid);
        break;
      case Order::Type::kDropClaim:
        if (!order.uid.empty()) loop_.launcher_->DropClaim(order.uid);
        break;
      case Order::Type::kDiscard:
        loop_.launcher_->Discard(order.body);
        break;
    }
  }
  for (auto& [key, leaving] : loop_.leaving_claims_) {
    if (leaving == Loop::Leaving::kOrdered) leaving = Loop::Leaving::kDropped;
  }
  if (reload_) loop_.loaded_ = false;
}

}  // namespace pondage::loop
