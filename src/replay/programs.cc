#include "replay/programs.h"

#include <algorithm>

#include "base/assert.h"
#include "replay/host.h"

namespace pondage::replay {

namespace {

constexpr std::string_view kPrefix = "default/j";
constexpr std::int64_t kMicro = 1'000'000;
constexpr int kSavedAndLeft = 42;

}  // namespace

std::optional<std::size_t> PartOf(const std::string& job) {
  if (!job.starts_with(kPrefix) || job.size() == kPrefix.size() || job.size() > 20) return {};
  std::size_t part = 0;
  for (const char c : job.substr(kPrefix.size())) {
    if (c < '0' || c > '9') return {};
    part = part * 10 + static_cast<std::size_t>(c - '0');
  }
  return part;
}

Programs::Programs(const port::Clock& clock, const trace::Workload& workload,
                   std::vector<Part> parts)
    : clock_(clock), policy_(workload.policy), parts_(std::move(parts)), states_(parts_.size()) {
  for (const fleet::Node& node : trace::Nodes(workload.fleet)) {
    if (!node.gpus.empty()) type_of_[node.name] = node.gpus.front().type;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const trace::Job& job = *parts_[i].job;
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
  const auto part = PartOf(launch.env.at(kJobVariable));
  REQUIRE(part && *part < states_.size());
  const auto [program, is_new] =
      programs_.try_emplace(launch.uid, Program{*part, launch.env.at(kNodeVariable), launch.start});
  if (!is_new) return;
  State& state = states_[*part];
  if (state.alive.empty()) state.record.stays.push_back({clock_.Now(), clock_.Now()});
  state.alive[launch.uid] = program->second.node;
  sink_(port::Started{launch.uid, launch.start, 1, clock_.Now()});
  if (static_cast<int>(state.alive.size()) == parts_[*part].members) Assemble(*part);
}

// The gang is whole: its end is known if nothing disturbs it.
void Programs::Assemble(std::size_t part) {
  State& state = states_[part];
  ++running_;
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
  const trace::Job& job = *parts_[part].job;
  std::set<std::string> machines;
  for (const auto& [uid, node] : states_[part].alive) machines.insert(node);
  const bool apart = static_cast<int>(machines.size()) > parts_[part].fewest_machines;
  base::Millis takes = job.duration;
  if (!job.speeds.empty()) {
    std::int64_t slowest = 0;
    for (const std::string& machine : machines) {
      const auto speed =
          std::ranges::find(job.speeds, type_of_.at(machine), &trace::Speed::gpu_type);
      const std::int64_t value = speed == job.speeds.end() ? 0
                                 : apart                   ? speed->apart_microsteps_s
                                                           : speed->together_microsteps_s;
      slowest = slowest == 0 ? value : std::min(slowest, value);
      if (value == 0) return {base::kNever.unix_ms / 4};  // it cannot run there: never ends
    }
    takes = {static_cast<std::int64_t>(
        (static_cast<__int128>(job.steps) * kMicro * 1'000 + slowest - 1) / slowest)};
  } else if (apart) {
    takes += base::Millis{takes.value / 100 * policy_.apart_slowdown_percent};
  }
  return takes;
}

void Programs::Advance(base::Instant now) {
  while (!events_.empty() && events_.top().at <= now) {
    const End end = events_.top();
    events_.pop();
    State& state = states_[end.part];
    if (state.generation != end.generation || !state.steps_from) continue;
    state.done = parts_[end.part].job->duration;
    state.steps_from.reset();
    state.record.finished = true;
    --running_;
    ++finished_;
    while (!state.alive.empty()) Leave(state.alive.begin()->first, 0, "Completed");
  }
}

void Programs::Stop(const std::string& uid, base::Millis) {
  const auto found = programs_.find(uid);
  if (found == programs_.end()) return;
  Interrupt(states_[found->second.part], true);
  Leave(uid, kSavedAndLeft, "Error");
}

void Programs::Kill(const std::string& uid) {
  const auto found = programs_.find(uid);
  if (found == programs_.end()) return;
  Interrupt(states_[found->second.part], false);
  Leave(uid, 137, "Error");
}

// The gang makes no more steps; what it did counts as far as it was saved.
void Programs::Interrupt(State& state, bool saved) {
  if (!state.steps_from) return;
  const base::Millis ran = clock_.Now() - *state.steps_from;
  base::Millis kept = std::max(ran, base::Millis{});
  if (!saved && policy_.checkpoint_every && policy_.checkpoint_every->value > 0) {
    kept.value -= kept.value % policy_.checkpoint_every->value;
  }
  const std::int64_t takes = std::max<std::int64_t>(state.takes.value, 1);
  state.done += {static_cast<std::int64_t>(static_cast<__int128>(kept.value) *
                                           state.record.duration->value / takes)};
  const base::Millis held = clock_.Now() - state.record.stays.back().from;
  state.record.lost_milli_gpu_ms += (held - kept).value * state.record.gpu.value;
  ++state.record.evictions;
  state.steps_from.reset();
  ++state.generation;
  --running_;
}

void Programs::Leave(std::string uid, int code, const char* reason) {
  const auto found = programs_.find(uid);
  const Program program = found->second;
  programs_.erase(found);
  State& state = states_[program.part];
  state.alive.erase(uid);
  state.record.stays.back().to = clock_.Now();
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
