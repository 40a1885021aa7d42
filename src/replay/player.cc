#include "replay/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "replay/chance.h"
#include "replay/host.h"
#include "replay/plain_run.h"
#include "replay/programs.h"

namespace pondage::replay {

namespace {

constexpr std::int64_t kMilli = 1'000;

base::Error Cannot(const trace::Job& job, std::string why) {
  return {base::Kind::kInvalid, "", "job " + job.name, std::move(why)};
}

bool IsLabel(std::string_view name) {
  constexpr std::size_t kLongest = 40;  // what is left for the names of replicas
  const auto is = [](char c, bool inside) {
    return (c >= 'a' && c <= 'z') || (inside && ((c >= '0' && c <= '9') || c == '-'));
  };
  return !name.empty() && name.size() <= kLongest && is(name.front(), false) &&
         name.back() != '-' && std::ranges::all_of(name, [&](char c) { return is(c, true); });
}

// The names themselves where all of them are DNS labels, else numbers behind a letter.
std::vector<std::string> LabelsOf(std::vector<std::string> names, char letter) {
  if (std::ranges::all_of(names, IsLabel)) return names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("{}{}", letter, i);
  return names;
}

// Roles of a gang's one or two kinds of members: one member alone is the chief of the others.
using Roles = std::map<base::Role, trace::Member>;

base::Result<Roles> RolesOf(const trace::Job& job, int largest_machine) {
  const std::vector<trace::Member> members = trace::Cut(job.gang, std::max(largest_machine, 1));
  if (std::ranges::any_of(members, [](const trace::Member& one) { return one.role.has_value(); })) {
    Roles roles;
    for (const trace::Member& member : members) {
      const bool is_new = member.role && roles.emplace(*member.role, member).second;
      if (!is_new) {
        return std::unexpected(Cannot(job, "each kind of its members wants a role of its own"));
      }
    }
    return roles;
  }
  if (members.size() == 1) return Roles{{base::Role::kWorker, members.front()}};
  if (members.size() != 2 || (members[0].count != 1 && members[1].count != 1)) {
    return std::unexpected(
        Cannot(job, "its members are of more kinds than one chief and equal workers"));
  }
  const std::size_t chief = members[1].count == 1 ? 1 : 0;
  return Roles{{base::Role::kChief, members[chief]}, {base::Role::kWorker, members[1 - chief]}};
}

std::string LengthText(base::Millis length) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {
      {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1'000, "s"}};
  for (const auto& [unit, name] : kUnits) {
    if (length.value >= unit && length.value % unit == 0) {
      return fmt::format("{} {}", length.value / unit, name);
    }
  }
  return fmt::format("{:g} s", static_cast<double>(length.value) / 1'000);
}

// What a disturbance costs and what goes wrong, for people.
std::string CostsText(const trace::Workload& workload) {
  const trace::Policy& policy = workload.policy;
  const trace::Faults& faults = workload.faults;
  std::string text = "restart " + LengthText(policy.restart);
  const auto add = [&](const std::string& more) { text += ", " + more; };
  if (policy.saving.value > 0) {
    add(fmt::format("saving {} of {} grace", LengthText(policy.saving), LengthText(policy.grace)));
  }
  if (policy.checkpoint_every) add("checkpoints every " + LengthText(*policy.checkpoint_every));
  if (policy.apart_slowdown_percent > 0)
    add(fmt::format("apart +{} %", policy.apart_slowdown_percent));
  if (faults.mtbf) {
    add(fmt::format("a machine fails every {}, repair {}", LengthText(*faults.mtbf),
                    LengthText(faults.repair)));
  }
  if (!faults.outages.empty()) add(fmt::format("{} outages", faults.outages.size()));
  if (faults.limits) {
    add(fmt::format("limits {:g} to {:g} times the length",
                    static_cast<double>(faults.limits->low_milli) / kMilli,
                    static_cast<double>(faults.limits->high_milli) / kMilli));
  }
  if (faults.arrivals.value > 0) add("jobs come up to " + LengthText(faults.arrivals) + " later");
  return text;
}

class Player {
 public:
  Player(const trace::Workload& workload, const Options& options)
      : workload_(workload), options_(options) {
    std::vector<std::string> queues, jobs;
    for (const queue::Spec& queue : workload.queues) queues.push_back(queue.name);
    for (const trace::Job& job : workload.jobs) jobs.push_back(job.name);
    const std::vector<std::string> labels = LabelsOf(queues, 'q');
    for (std::size_t i = 0; i < queues.size(); ++i) names_[queues[i]] = labels[i];
    job_names_ = LabelsOf(jobs, 'j');
  }

  base::Result<report::Run> Run() {
    TRY_DO(Prepare());
    Programs programs(clock_, workload_, std::move(parts_));
    const auto host = options_.server ? ServerHost(programs, clock_) : PoolHost(programs, clock_);
    host_ = host.get();
    programs.Listen([this](port::Reading reading) { host_->Tell(std::move(reading)); });
    clock_.Set(workload_.jobs.empty() ? base::Instant{} : workload_.jobs.front().submit);
    outages_.emplace(workload_, clock_.Now(), options_.seed);
    for (fleet::Node& node : trace::Nodes(workload_.fleet)) {
      nodes_[node.name] = node;
      host_->See(std::move(node));
    }
    if (!names_.contains("default")) host_->Put({.name = "default"});
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
        const auto types = trace::TypesFor(job, member, workload_.fleet);
        if (types && types->empty()) {
          return std::unexpected(Cannot(job, "no machine is of a type that it can run on"));
        }
        member.gpu_types = types.value_or(std::vector<std::string>{});
        const bool is_part = member.gpu.value % kMilli != 0;
        if (options_.server && (is_part || member.gpu_types.size() > 1)) {
          return std::unexpected(
              Cannot(job, "a TFJob asks for whole GPUs of one type: play it without --whole"));
        }
      }
      Part part{.job = &job, .name = job_names_[parts_.size()], .fewest_machines = 0};
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
    const std::vector<trace::Job>& jobs = workload_.jobs;
    while (next_ < jobs.size() || programs.finished() < jobs.size()) {
      const base::Instant now = NextInstant(programs);
      AnswerUntil(now);
      if (now == base::kNever) break;  // what waits will wait for ever
      clock_.Set(now);
      programs.Advance(now);
      MoveMachines(programs);
      for (; next_ < jobs.size() && jobs[next_].submit <= now; ++next_) {
        const auto queue = names_.find(jobs[next_].queue);
        host_->Apply({next_, job_names_[next_], &jobs[next_],
                      queue == names_.end() ? "" : queue->second, roles_[next_],
                      workload_.policy.grace});
      }
      TRY_DO(TurnAll());
      if (const trace::Job* job = programs.Hopeless()) {
        return std::unexpected(
            Cannot(*job, "its machines fail faster than it gets from checkpoint to checkpoint"));
      }
      if (options_.on_progress && ++turns_ % kTellEvery == 0) {
        options_.on_progress({programs.finished(), jobs.size(),
                              next_ - programs.finished() - programs.running(), programs.running(),
                              now});
      }
    }
    return {};
  }

  // Questions about instants before `end`, by what was decided last.
  void AnswerUntil(base::Instant end) {
    if (options_.questions == nullptr) return;
    std::vector<Question>& questions = *options_.questions;
    for (; asked_ < questions.size() && questions[asked_].at < end; ++asked_) {
      Question& question = questions[asked_];
      const auto job = std::ranges::find(workload_.jobs, question.job, &trace::Job::name);
      if (job == workload_.jobs.end()) continue;
      question.answer =
          host_->WhyWaits(job_names_[static_cast<std::size_t>(job - workload_.jobs.begin())]);
    }
  }

  // Where nothing else can happen, machines that are away are waited for; none fails any more.
  base::Instant NextInstant(const Programs& programs) const {
    const base::Instant arrival =
        next_ < workload_.jobs.size() ? workload_.jobs[next_].submit : base::kNever;
    const base::Instant next = std::min({arrival, programs.NextEvent(), due_});
    const base::Instant moves = next == base::kNever ? outages_->NextReturn() : outages_->Next();
    return std::max(clock_.Now(), std::min(next, moves));
  }

  // What fails is not there any more before its programs are said to be gone.
  void MoveMachines(Programs& programs) {
    for (const Outages::Change& change : outages_->Until(clock_.Now())) {
      fleet::Node node = nodes_.at(change.machine);
      if (change.is_away) node.health = fleet::Health::kLost;
      host_->See(std::move(node));
      if (change.is_away) programs.LoseMachine(change.machine);
    }
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
    run.costs = CostsText(workload_);
    for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
      report::Job job = programs.Record(i);
      const auto limit = DeadlineOf(workload_.jobs[i]);
      if (limit && !job.finished && !job.stays.empty() &&
          clock_.Now() - job.stays.front().from >= *limit) {
        job.cut = true;
        job.lost_milli_gpu_ms = 0;
        for (const report::Stay& stay : job.stays) {
          job.lost_milli_gpu_ms += (stay.to - stay.from).value * job.gpu.value;
        }
      }
      run.jobs.push_back(std::move(job));
    }
    return run;
  }

  static constexpr std::size_t kTellEvery = 256;

  const trace::Workload& workload_;
  const Options& options_;
  port::ManualClock clock_;
  std::map<std::string, std::string> names_;  // of queues, as DNS labels
  std::vector<std::string> job_names_;        // as DNS labels
  std::vector<Part> parts_;
  std::vector<Roles> roles_;
  Host* host_ = nullptr;
  std::map<std::string, fleet::Node> nodes_;
  std::optional<Outages> outages_;
  std::size_t next_ = 0;   // job to come
  std::size_t asked_ = 0;  // questions so far
  base::Instant due_ = base::kNever;
  std::uint64_t turns_ = 0;
};

}  // namespace

std::string MachinesText(const std::vector<trace::Machines>& fleet) {
  std::map<int, std::int64_t> by_size;
  for (const trace::Machines& machines : fleet) by_size[machines.gpus] += machines.count;
  std::string text;
  for (const auto& [gpus, count] : by_size) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", count, gpus);
  }
  return text;
}

base::Result<report::Run> Play(const trace::Workload& workload, const Options& options) {
  REQUIRE(!workload.fleet.empty());
  const std::string& name = workload.policy.name;
  const auto plain = baseline::PolicyOf(name);
  const auto placing = baseline::PlacingOf(name);
  if (!plain && !placing && name != "pondage") {
    return base::Fail(
        base::Kind::kInvalid, "", "policy " + name,
        "it is not known; known: pondage fifo fit fewest sjf srtf srsf las bestfit fgd");
  }
  trace::Workload drawn = workload;
  DrawJobs(drawn, options.seed);
  TRY(report::Run run, plain     ? PlayPlain(drawn, *plain)
                       : placing ? PlayPlaced(drawn, *placing)
                                 : Player(drawn, options).Run());
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
  int given = 0;  // machines
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
    // Named as in the pool: the same machines fail at the same times.
    island.fleet.clear();
    for (std::int64_t machine = 0; machine < own / kind.gpus; ++machine) {
      island.fleet.push_back(kind);
      island.fleet.back().count = 1;
      island.fleet.back().name = fmt::format("{}-{}", kind.name, ++given);
    }
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
