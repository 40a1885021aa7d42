#include "replay/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.h"
#include "replay/host.h"
#include "replay/plain_run.h"
#include "replay/programs.h"

namespace pondage::replay {

namespace {

constexpr std::int64_t kMilli = 1'000;

base::Error Cannot(const trace::Job& job, std::string why) {
  return {base::Kind::kInvalid, "", "job " + job.name, std::move(why)};
}

// Roles of a gang's one or two kinds of members: one member alone is the chief of the others.
using Roles = std::map<base::Role, trace::Member>;

base::Result<Roles> RolesOf(const trace::Job& job, int largest_machine) {
  for (const trace::Member& member : job.gang) {
    if (member.gpu.value % kMilli != 0) {
      return std::unexpected(Cannot(job, "shares of a GPU cannot be played yet"));
    }
    if (member.gpu_types.size() > 1) {
      return std::unexpected(Cannot(job, "a choice of GPU types cannot be played yet"));
    }
  }
  const std::vector<trace::Member> members = trace::Cut(job.gang, std::max(largest_machine, 1));
  if (members.size() == 1) return Roles{{base::Role::kWorker, members.front()}};
  if (members.size() != 2 || (members[0].count != 1 && members[1].count != 1)) {
    return std::unexpected(
        Cannot(job, "its members are of more kinds than one chief and equal workers"));
  }
  const std::size_t chief = members[1].count == 1 ? 1 : 0;
  return Roles{{base::Role::kChief, members[chief]}, {base::Role::kWorker, members[1 - chief]}};
}

class Player {
 public:
  Player(const trace::Workload& workload, const Options& options)
      : workload_(workload), options_(options) {
    for (std::size_t i = 0; i < workload.queues.size(); ++i) {
      names_[workload.queues[i].name] = fmt::format("q{}", i);
    }
  }

  base::Result<report::Run> Run() {
    TRY_DO(Prepare());
    Programs programs(clock_, workload_, std::move(parts_));
    const auto host = options_.server ? ServerHost(programs, clock_) : PoolHost(programs, clock_);
    host_ = host.get();
    programs.Listen([this](port::Reading reading) { host_->Tell(std::move(reading)); });
    clock_.Set(workload_.jobs.empty() ? base::Instant{} : workload_.jobs.front().submit);
    for (fleet::Node& node : trace::Nodes(workload_.fleet)) host_->See(std::move(node));
    for (queue::Spec queue : workload_.queues) {
      queue.name = names_.at(queue.name);
      const auto parent = names_.find(queue.parent);
      queue.parent = parent == names_.end() ? "" : parent->second;
      host_->Put(queue);
    }
    TRY_DO(TurnAll());
    TRY_DO(PlayAll(programs));
    return RunOf(programs);
  }

 private:
  base::Result<void> Prepare() {
    const int largest = trace::LargestMachine(workload_.fleet);
    // Machines that state no cores or memory ("18x8") have as much as is asked for.
    const auto states = [&](auto part) {
      return std::ranges::any_of(workload_.fleet,
                                 [&](const auto& m) { return (m.*part).value > 0; });
    };
    const bool states_cpu = states(&trace::Machines::cpu);
    const bool states_memory = states(&trace::Machines::memory);
    for (const trace::Job& job : workload_.jobs) {
      TRY(Roles roles, RolesOf(job, largest));
      for (auto& [role, member] : roles) {
        if (!states_cpu) member.cpu = {};
        if (!states_memory) member.memory = {};
      }
      Part part{.job = &job, .fewest_machines = 0};
      base::MilliGpu gpu;
      for (const auto& [role, member] : roles) {
        part.members += member.count;
        gpu += member.gpu * member.count;
      }
      const std::int64_t whole = std::max<std::int64_t>(largest, 1) * kMilli;
      part.fewest_machines =
          static_cast<int>(std::max<std::int64_t>((gpu.value + whole - 1) / whole, 1));
      parts_.push_back(part);
      roles_.push_back(std::move(roles));
    }
    return {};
  }

  base::Result<void> PlayAll(Programs& programs) {
    std::size_t next = 0;
    const std::vector<trace::Job>& jobs = workload_.jobs;
    while (next < jobs.size() || programs.finished() < jobs.size()) {
      const base::Instant arrival = next < jobs.size() ? jobs[next].submit : base::kNever;
      const base::Instant now =
          std::max(clock_.Now(), std::min({arrival, programs.NextEvent(), due_}));
      if (now == base::kNever) break;  // what waits will wait for ever
      clock_.Set(now);
      programs.Advance(now);
      for (; next < jobs.size() && jobs[next].submit <= now; ++next) {
        const auto queue = names_.find(jobs[next].queue);
        host_->Apply({next, &jobs[next], queue == names_.end() ? "" : queue->second, roles_[next]});
      }
      TRY_DO(TurnAll());
      if (options_.on_progress && ++turns_ % kTellEvery == 0) {
        options_.on_progress({programs.finished(), jobs.size(),
                              next - programs.finished() - programs.running(), programs.running(),
                              now});
      }
    }
    return {};
  }

  // Until nothing more happens at this instant.
  base::Result<void> TurnAll() {
    do {
      TRY(due_, host_->Turn());
    } while (due_ <= clock_.Now());
    return {};
  }

  report::Run RunOf(const Programs& programs) const {
    report::Run run;
    run.costs = fmt::format("restart {} s", workload_.policy.restart.value / 1'000);
    for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
      run.jobs.push_back(programs.Record(i));
    }
    return run;
  }

  static constexpr std::size_t kTellEvery = 256;

  const trace::Workload& workload_;
  const Options& options_;
  port::ManualClock clock_;
  std::map<std::string, std::string> names_;  // of queues, as DNS labels
  std::vector<Part> parts_;
  std::vector<Roles> roles_;
  Host* host_ = nullptr;
  base::Instant due_ = base::kNever;
  std::uint64_t turns_ = 0;
};

}  // namespace

namespace {

std::string MachinesText(const std::vector<trace::Machines>& fleet) {
  std::map<int, std::int64_t> by_size;
  for (const trace::Machines& machines : fleet) by_size[machines.gpus] += machines.count;
  std::string text;
  for (const auto& [gpus, count] : by_size) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", count, gpus);
  }
  return text;
}

}  // namespace

base::Result<report::Run> Play(const trace::Workload& workload, const Options& options) {
  REQUIRE(!workload.fleet.empty());
  const std::string& name = workload.policy.name;
  const auto plain = baseline::PolicyOf(name);
  if (!plain && name != "pondage") {
    return base::Fail(base::Kind::kInvalid, "", "policy " + name,
                      "it is not known; known: pondage fifo fit fewest sjf srtf srsf las");
  }
  TRY(report::Run run, plain ? PlayPlain(workload, *plain) : Player(workload, options).Run());
  run.name = options.name;
  run.policy = name;
  run.machines = MachinesText(workload.fleet);
  run.gpu = base::WholeGpus(trace::GpusOf(workload.fleet));
  run.seed = options.seed;
  return run;
}

base::Result<report::Run> PlayIslands(const trace::Workload& workload, const Options& options) {
  REQUIRE(!workload.fleet.empty());
  const trace::Machines kind = workload.fleet.front();
  report::Run all{
      .name = options.name, .policy = workload.policy.name, .islands = true, .seed = options.seed};
  for (const queue::Spec& queue : workload.queues) {
    trace::Workload island = workload;
    std::erase_if(island.jobs, [&](const trace::Job& job) { return job.queue != queue.name; });
    if (island.jobs.empty()) continue;
    const std::int64_t own = queue.guarantee.value / kMilli;
    if (kind.gpus == 0 || own == 0 || own % kind.gpus != 0) {
      return base::Fail(base::Kind::kInvalid, "", "queue " + queue.name,
                        fmt::format("its guarantee of {} GPUs is no whole number of machines of {}",
                                    own, kind.gpus));
    }
    island.fleet = {kind};
    island.fleet.front().count = static_cast<int>(own / kind.gpus);
    island.queues = {{.name = queue.name}};
    TRY(report::Run run, Play(island, options));
    all.gpu += run.gpu;
    all.machines += (all.machines.empty() ? "" : " | ") + run.machines;
    all.costs = run.costs;
    for (report::Job& job : run.jobs) all.jobs.push_back(std::move(job));
  }
  std::ranges::stable_sort(all.jobs, {}, &report::Job::submit);
  return all;
}

}  // namespace pondage::replay
