#include "replay/programs.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "replay/host.h"

namespace pondage::replay {

namespace {

constexpr int kSavedAndLeft = 42;
constexpr int kKilled = 137;
constexpr int kMostInterruptions = 20'000;  // of one job

}  // namespace

Programs::Programs(const port::Clock& clock, const trace::Workload& workload,
                   std::vector<Part> parts)
    : clock_(clock), policy_(workload.policy), parts_(std::move(parts)), states_(parts_.size()) {
  for (const fleet::Node& node : trace::Nodes(workload.fleet)) {
    type_of_[node.name] = node.gpus.empty() ? "" : node.gpus.front().type;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const trace::Job& job = *parts_[i].job;
    part_of_["default/" + parts_[i].name] = i;
    states_[i].record = {.name = job.name,
                         .queue = job.queue,
                         .user = job.user,
                         .gpu = trace::GpuOf(job),
                         .submit = job.submit,
                         .duration = job.duration,
                         .finished = false};
  }
}

// A server that starts anew asks for what it knows; here nothing goes on without it.
void Programs::Adopt(const std::vector<Known>& known) {
  for (const Known& expected : known) {
    if (!expected.seen_started && !programs_.contains(expected.uid)) continue;
    REQUIRE(programs_.contains(expected.uid));
    sink_(port::Started{expected.uid, expected.start, 1, clock_.Now()});
  }
  sink_(port::AllTold{});
}

void Programs::Start(const std::string& uid, int start, MakeLaunch make) {
  const auto made = make();
  REQUIRE(made && made->uid == uid && made->start == start);
  const port::Launch& launch = *made;
  const std::size_t part = part_of_.at(launch.env.at(kJobVariable));
  const auto [program, is_new] =
      programs_.try_emplace(launch.uid, Program{part, launch.env.at(kNodeVariable), launch.start});
  if (!is_new) return;
  State& state = states_[part];
  if (state.alive.empty()) state.record.stays.push_back({clock_.Now(), clock_.Now()});
  state.alive[launch.uid] = program->second.node;
  sink_(port::Started{launch.uid, launch.start, 1, clock_.Now()});
  if (static_cast<int>(state.alive.size()) == parts_[part].members) Assemble(part);
}

// The gang is whole: its end is known if nothing disturbs it.
void Programs::Assemble(std::size_t part) {
  State& state = states_[part];
  ++running_;
  std::set<std::string> machines;
  for (const auto& [uid, node] : state.alive) machines.insert(node);
  state.record.stays.back().machines.assign(machines.begin(), machines.end());
  state.takes = Takes(part);
  state.steps_from = clock_.Now() + (state.starts++ > 0 ? policy_.restart : base::Millis{});
  // What was done elsewhere counts by its share, rounded down to a millisecond.
  const std::int64_t length = std::max<std::int64_t>(parts_[part].job->duration.value, 1);
  const auto done = static_cast<std::int64_t>(static_cast<__int128>(state.takes.value) *
                                              state.done.value / length);
  events_.push({*state.steps_from + (state.takes - base::Millis{done}), part, ++state.generation});
}

// How long the whole job takes on the machines that it has.
base::Millis Programs::Takes(std::size_t part) const {
  const std::vector<std::string>& machines = states_[part].record.stays.back().machines;
  const bool apart = static_cast<int>(machines.size()) > parts_[part].fewest_machines;
  std::vector<std::string> types;
  for (const std::string& machine : machines) types.push_back(type_of_.at(machine));
  const auto takes =
      trace::TakesOn(*parts_[part].job, types, apart, policy_.apart_slowdown_percent);
  return takes.value_or(base::Millis{base::kNever.unix_ms / 4});  // it cannot run there: never ends
}

base::Instant Programs::NextEvent() const {
  const base::Instant end = events_.empty() ? base::kNever : events_.top().at;
  return saving_.empty() ? end : std::min(end, saving_.begin()->first.first);
}

void Programs::Advance(base::Instant now) {
  while (!saving_.empty() && saving_.begin()->first.first <= now) {
    const auto [when, code] = *saving_.begin();
    saving_.erase(saving_.begin());
    if (programs_.contains(when.second)) Leave(when.second, code, "Error");
  }
  while (!events_.empty() && events_.top().at <= now) {
    const End end = events_.top();
    events_.pop();
    State& state = states_[end.part];
    if (state.generation != end.generation || !state.steps_from) continue;
    state.done = parts_[end.part].job->duration;
    state.kept = clock_.Now() - *state.steps_from;
    state.steps_from.reset();
    state.record.finished = true;
    --running_;
    ++finished_;
    while (!state.alive.empty()) Leave(state.alive.begin()->first, 0, "Completed");
  }
}

// Who cannot save within its grace makes no attempt: it is killed when that is over.
void Programs::Stop(const std::string& uid, base::Millis grace) {
  const auto found = programs_.find(uid);
  if (found == programs_.end()) return;
  const std::size_t part = found->second.part;
  const bool saves = policy_.saving <= grace;
  if (Interrupt(part, saves)) {
    report::Job& record = states_[part].record;
    const auto limit = DeadlineOf(*parts_[part].job);
    const bool is_over = limit && clock_.Now() - record.stays.front().from >= *limit;
    if (!is_over) ++record.evictions;
  }
  if (saves && policy_.saving.value == 0) return Leave(uid, kSavedAndLeft, "Error");
  saving_[{clock_.Now() + std::min(policy_.saving, grace), uid}] = saves ? kSavedAndLeft : kKilled;
}

void Programs::Kill(const std::string& uid) {
  const auto found = programs_.find(uid);
  if (found == programs_.end()) return;
  Interrupt(found->second.part, false);
  Leave(uid, kKilled, "Error");
}

void Programs::LoseMachine(const std::string& machine) {
  std::vector<std::string> lost;
  for (const auto& [uid, program] : programs_) {
    if (program.node == machine) lost.push_back(uid);
  }
  std::set<std::size_t> parts;
  for (const std::string& uid : lost) {
    const std::size_t part = programs_.at(uid).part;
    Interrupt(part, false);
    if (parts.insert(part).second) ++states_[part].record.failures;
    Leave(uid, kKilled, "Lost");
  }
}

// The gang makes no more steps; what it did counts as far as it was saved.
bool Programs::Interrupt(std::size_t part, bool saved) {
  State& state = states_[part];
  if (!state.steps_from) return false;
  state.kept = std::max(clock_.Now() - *state.steps_from, base::Millis{});
  if (!saved && policy_.checkpoint_every && policy_.checkpoint_every->value > 0) {
    state.kept.value -= state.kept.value % policy_.checkpoint_every->value;
  }
  const std::int64_t takes = std::max<std::int64_t>(state.takes.value, 1);
  state.done += {static_cast<std::int64_t>(static_cast<__int128>(state.kept.value) *
                                           state.record.duration->value / takes)};
  if (++state.interruptions > kMostInterruptions) hopeless_ = parts_[part].job;
  state.steps_from.reset();
  ++state.generation;
  --running_;
  return true;
}

void Programs::Leave(std::string uid, int code, const char* reason) {
  const auto found = programs_.find(uid);
  const Program program = found->second;
  programs_.erase(found);
  State& state = states_[program.part];
  state.alive.erase(uid);
  report::Stay& stay = state.record.stays.back();
  stay.to = clock_.Now();
  if (state.alive.empty()) {
    const base::Millis lost = stay.to - stay.from - std::exchange(state.kept, {});
    state.record.lost_milli_gpu_ms += lost.value * state.record.gpu.value;
  }
  sink_(port::Exited{.uid = uid,
                     .start = program.start,
                     .code = code,
                     .reason = reason,
                     .at = clock_.Now(),
                     .at_monotonic_ms = clock_.Now().unix_ms,
                     .boot_id = "boot-1"});
}

void Programs::Forget(const std::string&, int) {}

}  // namespace pondage::replay
