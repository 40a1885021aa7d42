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

Loop::Loop(Settings settings, port::Store& store, port::Runner& runner, port::Clock& clock,
           std::shared_ptr<port::Launcher> launcher)
    : settings_(std::move(settings)),
      store_(store),
      runner_(runner),
      clock_(clock),
      launcher_(std::move(launcher)),
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
  turn.TakeOldest();
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
  const bool dropped = std::ranges::any_of(
      leaving_claims_, [](const auto& claim) { return claim.second != Leaving::kUsed; });
  if (!inputs_.empty() || !noted_.empty() || !loaded_ || dropped) return now;
  return std::min({pool_wake_, due_, expiry_, queue_due_, look_again_});
}

// A disk that is full fills the log of a server that complains at every try.
void Loop::Rest(std::string_view what, const base::Error& error) {
  Complain(what, error);
  const std::scoped_lock lock(mutex_);
  resting_ = true;
}

void Loop::Complain(std::string_view what, const base::Error& error) {
  if (store_trouble_ == error.message) return;
  spdlog::error("cannot {}: {}; trying again every second", what, error.message);
  store_trouble_ = error.message;
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

manifest::PriorityOf Loop::Priorities() const {
  return [this](const std::string& name) {
    const auto found = priorities_.find(name);
    return found == priorities_.end() ? 0 : found->second;
  };
}

// Of an object that can be read: one that cannot is not due until somebody mends it.
base::Instant Loop::FindNextDue() {
  const auto due = store_.Due({0}, kEndOfTime - base::Millis{1}, set_aside_.size() + 1);
  if (!due) return clock_.Now() + kRetry;
  for (const auto& [at, key] : *due) {
    if (!set_aside_.Contains(key)) return at;
  }
  return base::kNever;
}

base::Instant Loop::FindNextExpiry() {
  if (!settings_.keep_finished) return base::kNever;
  const auto kept = store_.Due(kEndOfTime, base::kNever, set_aside_.size() + 1);
  if (!kept) return clock_.Now() + kRetry;
  for (const auto& [at, key] : *kept) {
    if (set_aside_.Contains(key)) continue;
    return base::Instant{(at - kEndOfTime).value} + *settings_.keep_finished;
  }
  return base::kNever;
}

// What the Pod needs of this machine is not looked at here: this thread waits for no file system.
void Loop::Launch(const std::string& uid, const std::string& pod_body, int start) {
  runner_.Start(uid, start, [launcher = launcher_, pod_body, start] {
    return launcher->LaunchOf(pod_body, start);
  });
}

}  // namespace pondage::loop
