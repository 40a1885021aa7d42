#include "loop/loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "loop/turn.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/tfjob.h"

namespace pondage::loop {

namespace {

std::string MessageOf(const base::Error& error) {
  return error.object.empty() ? error.message : error.object + " " + error.message;
}

}  // namespace

Loop::Loop(Settings settings, port::Store& store, port::Runner& runner, port::Clock& clock,
           port::Launcher& launcher)
    : settings_(std::move(settings)),
      store_(store),
      runner_(runner),
      clock_(clock),
      launcher_(launcher),
      pool_(std::make_unique<pool::Pool>(settings_.pool)) {}

void Loop::Submit(port::Write write, Done done) {
  {
    const std::scoped_lock lock(mutex_);
    if (inputs_.size() < settings_.queue_bound) {
      inputs_.emplace_back(WriteInput{std::move(write), std::move(done)});
      input_.notify_one();
      return;
    }
  }
  done(base::Fail(base::Kind::kUnavailable, "PND-A010", "",
                  "too many changes are waiting to be written; try again in a moment"));
}

void Loop::Tell(port::Reading reading) {
  Push(std::move(reading));
}
void Loop::See(fleet::Node node, manifest::MachineFacts machine) {
  Push(NodeInput{std::move(node), std::move(machine)});
}

void Loop::Push(Input input) {
  const std::scoped_lock lock(mutex_);
  inputs_.push_back(std::move(input));  // readings are never dropped: each is told once
  input_.notify_one();
}

void Loop::Wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  input_.notify_one();
}

void Loop::AwaitInput(base::Instant until) {
  constexpr std::int64_t kLongestMs = 60'000;
  const std::int64_t wait_ms =
      std::clamp<std::int64_t>((until - clock_.Now()).value, 0, kLongestMs);
  std::unique_lock lock(mutex_);
  input_.wait_for(lock, std::chrono::milliseconds(wait_ms),
                  [this] { return woken_ || (!inputs_.empty() && !resting_); });
  woken_ = false;
  resting_ = false;
}

std::vector<Loop::Input> Loop::TakeInputs() {
  const std::scoped_lock lock(mutex_);
  std::vector<Input> taken;
  while (!inputs_.empty() && taken.size() < settings_.batch) {
    taken.push_back(std::move(inputs_.front()));
    inputs_.pop_front();
  }
  return taken;
}

base::Instant Loop::Turn() {
  constexpr base::Millis kRetry{1'000};
  const base::Instant now = clock_.Now();
  if (!loaded_) {
    if (const auto loaded = Load(); !loaded) {
      Rest("read the store", loaded.error());
      RefuseWrites(loaded.error());
      return now + kRetry;
    }
  }
  std::vector<Input> inputs = TakeInputs();
  Turner turn(*this, now);
  for (Input& input : inputs) {
    std::visit([&turn](auto& taken) { turn.Take(taken); }, input);
  }
  turn.TakeDue();
  turn.Step();
  if (const auto committed = turn.Commit(); !committed) {
    // What was drafted is void, what the runner told is not: it is taken again after the reload.
    Rest("commit", committed.error());
    loaded_ = false;
    const std::scoped_lock lock(mutex_);
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
      if (!std::holds_alternative<WriteInput>(*input)) inputs_.push_front(std::move(*input));
    }
    return now + kRetry;
  }
  if (turn.wrote() && !store_trouble_.empty()) {
    spdlog::warn("the store takes changes again");
    store_trouble_.clear();
  }
  turn.CarryOut();
  const std::scoped_lock lock(mutex_);
  if (!inputs_.empty() || !noted_.empty()) return now;
  return std::min({pool_wake_, due_, queue_due_});
}

// A disk that is full fills the log of a server that complains at every try.
void Loop::Rest(std::string_view what, const base::Error& error) {
  if (store_trouble_ != error.message) {
    spdlog::error("cannot {}: {}; trying again every second", what, error.message);
    store_trouble_ = error.message;
  }
  const std::scoped_lock lock(mutex_);
  resting_ = true;
}

// Nobody waits for an answer while the store cannot be read.
void Loop::RefuseWrites(const base::Error& error) {
  std::vector<WriteInput> refused;
  {
    const std::scoped_lock lock(mutex_);
    for (Input& input : inputs_) {
      if (auto* write = std::get_if<WriteInput>(&input)) refused.push_back(std::move(*write));
    }
    std::erase_if(inputs_,
                  [](const Input& input) { return std::holds_alternative<WriteInput>(input); });
  }
  for (WriteInput& write : refused) write.done(std::unexpected(error));
}

base::Result<void> Loop::Load() {
  std::vector<pool::Fact> facts;
  pods_.clear();
  shown_.clear();
  priorities_.clear();
  jobs_.clear();
  noted_.clear();
  terminating_.clear();
  TRY_DO(LoadRest(facts));
  TRY_DO(LoadJobs(facts));
  pool_ = std::make_unique<pool::Pool>(settings_.pool);
  TRY_DO(FinishLoad(facts));
  loaded_ = true;
  TakeOver();
  return {};
}

base::Result<void> Loop::LoadRest(std::vector<pool::Fact>& facts) {
  TRY(const auto classes, store_.Live("priorityclasses.scheduling.k8s.io"));
  for (const port::Object& object : classes) {
    TRY(priorities_[object.key.name], manifest::DecodePriorityClass(*object.body));
  }
  TRY(const auto queues, store_.Live("queues.pondage.dev"));
  for (const port::Object& object : queues) {
    TRY(queue::Spec spec, manifest::DecodeQueue(*object.body));
    facts.emplace_back(pool::QueuePut{std::move(spec)});
  }
  TRY(const auto nodes, store_.Live("nodes"));
  for (const port::Object& object : nodes) {
    TRY(fleet::Node node, manifest::DecodeNode(*object.body));
    facts.emplace_back(pool::NodeSeen{std::move(node)});
  }
  TRY(const auto spaces, store_.Live("namespaces"));
  for (const port::Object& object : spaces) terminating_.insert(object.key.name);
  return {};
}

base::Result<void> Loop::LoadJobs(std::vector<pool::Fact>& facts) {
  TRY(const auto jobs, store_.Live("tfjobs.kubeflow.org"));
  for (const port::Object& object : jobs) {
    TRY(manifest::TfJob job, manifest::DecodeTfJob(*object.body, [this](const std::string& name) {
          const auto found = priorities_.find(name);
          return found == priorities_.end() ? 0 : found->second;
        }));
    job.identity.id = {object.created};
    for (const job::Replica& replica : job.status.replicas) {
      if (!replica.present) continue;
      const std::string uid =
          manifest::PodUid(job.identity, replica.role, replica.index, replica.incarnation);
      pods_[uid] = replica.Id(job.identity.id);
    }
    shown_[job.identity.id] = job.status.replicas;
    jobs_[object.key] = job.identity.id;
    facts.emplace_back(pool::JobLoaded{job.identity, job.spec, job.status, job.removed});
  }
  return {};
}

// The first step after a load decides nothing durable by itself: it rebuilds the pool's memory.
// What it would decide is decided again, and committed, by the turn that follows.
base::Result<void> Loop::FinishLoad(const std::vector<pool::Fact>& facts) {
  pool_->Remember(facts);
  TRY(due_, store_.NextDue());
  pool_wake_ = clock_.Now();
  queue_due_ = pool_wake_;  // what queues show may be older than the last step
  return {};
}

// What ran is taken over. What was bound and never seen started is started now: the server ended
// between the commit and the start (the runner knows if it did start after all).
void Loop::TakeOver() {
  std::vector<port::Runner::Known> known;
  std::vector<std::pair<port::Key, int>> unstarted;
  for (const auto& [id, job] : pool_->jobs()) {
    for (const job::Replica& replica : job.status.replicas) {
      if (!replica.alive) continue;
      if (replica.started) {
        known.push_back(
            {manifest::PodUid(job.identity, replica.role, replica.index, replica.incarnation),
             replica.restarts, job.spec.checkpoint_dir});
      } else if (!replica.restart_at) {
        const std::string name = job::ReplicaName(job.identity.name, replica.role, replica.index);
        unstarted.push_back({{"pods", job.identity.space, name}, replica.restarts});
      }
    }
  }
  runner_.Adopt(known);
  for (const auto& [key, start] : unstarted) {
    if (const auto pod = store_.Get(key)) Launch(pod->uid, *pod->body, start);
  }
  RepeatStops();  // behind the starts: one that was killed before it was seen started must not stay
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

void Loop::Launch(const std::string& uid, const std::string& pod_body, int start) {
  const auto launch = launcher_.LaunchOf(pod_body, start);
  if (launch) {
    runner_.Start(*launch);
  } else {
    Tell(port::NotStarted{.uid = uid, .start = start, .message = MessageOf(launch.error())});
  }
}

}  // namespace pondage::loop
