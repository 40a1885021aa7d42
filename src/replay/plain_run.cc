#include "replay/plain_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "baseline/holding.h"

namespace pondage::replay {

namespace {

constexpr std::int64_t kMilli = 1'000;

base::Result<baseline::Job> JobOf(const trace::Job& job) {
  const base::MilliGpu gpu = trace::GpuOf(job);
  const auto cannot = [&](const char* why) {
    return base::Fail(base::Kind::kInvalid, "", "job " + job.name, why);
  };
  if (gpu.value == 0 || gpu.value % kMilli != 0) {
    return cannot("plain policies know whole GPUs alone");
  }
  if (!job.speeds.empty()) return cannot("plain policies know no speeds");
  for (const trace::Member& member : job.gang) {
    if (!member.gpu_types.empty() || !member.labels.empty()) {
      return cannot("plain policies know no types and no labels");
    }
  }
  return baseline::Job{job.submit.unix_ms, job.duration.value,
                       static_cast<int>(gpu.value / kMilli)};
}

base::Result<void> CheckFaults(const trace::Faults& faults) {
  if (!faults.mtbf && faults.outages.empty()) return {};
  return base::Fail(base::Kind::kInvalid, "", "faults",
                    "plain policies know no failing machines; play pondage and islands");
}

report::Job RecordOf(const trace::Job& job, const std::vector<baseline::Stay>& stays) {
  report::Job record{.name = job.name,
                     .queue = job.queue,
                     .user = job.user,
                     .gpu = trace::GpuOf(job),
                     .submit = job.submit,
                     .duration = job.duration,
                     .finished = !stays.empty()};
  for (const baseline::Stay& stay : stays) record.stays.push_back({{stay.from_ms}, {stay.to_ms}});
  if (!stays.empty()) record.evictions = static_cast<int>(stays.size()) - 1;
  return record;
}

// Machines and gangs as the placing policies know them.
class PlacedRoom : public baseline::Room {
 public:
  PlacedRoom(const trace::Workload& workload, baseline::Placing placing) : workload_(workload) {
    std::vector<baseline::Machine> machines;
    for (const trace::Machines& some : workload.fleet) {
      for (int i = 0; i < some.count; ++i) {
        machines.push_back({some.gpus, TypeOf(some.gpu_type), some.cpu.value, some.memory.value});
      }
    }
    for (const fleet::Node& node : trace::Nodes(workload.fleet)) {
      names_.push_back(node.name);
      types_.push_back(node.gpus.empty() ? "" : node.gpus.front().type);
      states_cpu_ = states_cpu_ || node.cpu.value > 0;
      states_memory_ = states_memory_ || node.memory.value > 0;
    }
    std::vector<baseline::Member> all;
    for (const trace::Job& job : workload.jobs) {
      gangs_.push_back(GangOf(job));
      all.insert(all.end(), gangs_.back().begin(), gangs_.back().end());
    }
    placer_.emplace(std::move(machines), placing, baseline::TypicalOf(all));
  }

  // Equal gangs fit alike.
  std::vector<baseline::Waiting> Waiting() const {
    std::map<std::vector<baseline::Member>, int> kinds;
    std::vector<baseline::Waiting> waiting;
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      const int kind = kinds.emplace(gangs_[i], static_cast<int>(kinds.size())).first->second;
      waiting.push_back({.submit_ms = workload_.jobs[i].submit.unix_ms, .kind = kind});
    }
    return waiting;
  }

  std::optional<std::int64_t> Take(std::size_t job) override {
    auto seats = placer_->Take(gangs_[job]);
    if (seats.empty()) return std::nullopt;
    std::set<int> machines;
    for (const baseline::Seat& seat : seats) machines.insert(seat.machine);
    std::vector<std::string> types;
    for (const int machine : machines) {
      machines_of_[job].push_back(names_[static_cast<std::size_t>(machine)]);
      types.push_back(types_[static_cast<std::size_t>(machine)]);
    }
    seats_[job] = std::move(seats);
    const std::int64_t most = std::max(trace::LargestMachine(workload_.fleet), 1) * kMilli;
    const std::int64_t fewest = (trace::GpuOf(workload_.jobs[job]).value + most - 1) / most;
    const bool apart =
        static_cast<std::int64_t>(machines.size()) > std::max<std::int64_t>(fewest, 1);
    const auto takes =
        trace::TakesOn(workload_.jobs[job], types, apart, workload_.policy.apart_slowdown_percent);
    REQUIRE(takes.has_value());  // its types are those that have a speed for it
    return takes->value;
  }
  void Give(std::size_t job) override {
    placer_->Give(seats_.at(job));
    seats_.erase(job);
  }

  const std::vector<std::string>& MachinesOf(std::size_t job) const { return machines_of_.at(job); }

 private:
  int TypeOf(const std::string& type) {
    return type_numbers_.emplace(type, static_cast<int>(type_numbers_.size())).first->second;
  }

  std::vector<baseline::Member> GangOf(const trace::Job& job) {
    std::vector<baseline::Member> gang;
    for (const trace::Member& member :
         trace::Cut(job.gang, std::max(trace::LargestMachine(workload_.fleet), 1))) {
      baseline::Member one{.count = member.count};
      const bool is_part = member.gpu.value % kMilli != 0;
      (is_part ? one.part_milli : one.gpus) =
          static_cast<int>(is_part ? member.gpu.value : member.gpu.value / kMilli);
      if (states_cpu_) one.cpu_milli = member.cpu.value;
      if (states_memory_) one.memory = member.memory.value;
      if (const auto types = trace::TypesFor(job, member, workload_.fleet)) {
        constexpr int kNowhere = -1;
        if (types->empty()) one.types.push_back(kNowhere);
        for (const std::string& type : *types) one.types.push_back(TypeOf(type));
      }
      std::ranges::sort(one.types);
      gang.push_back(std::move(one));
    }
    return gang;
  }

  const trace::Workload& workload_;
  std::map<std::string, int> type_numbers_;
  std::vector<std::string> names_, types_;  // of machines
  bool states_cpu_ = false, states_memory_ = false;
  std::vector<std::vector<baseline::Member>> gangs_;
  std::optional<baseline::Placer> placer_;
  std::map<std::size_t, std::vector<baseline::Seat>> seats_;
  std::map<std::size_t, std::vector<std::string>> machines_of_;
};

constexpr const char* kNoCosts = "none: plain policies interrupt for nothing";

}  // namespace

base::Result<report::Run> PlayPlain(const trace::Workload& workload, baseline::Policy policy) {
  TRY_DO(CheckFaults(workload.faults));
  const int gpus = trace::LargestMachine(workload.fleet);
  for (const trace::Machines& machines : workload.fleet) {
    if (machines.gpus != gpus || gpus == 0) {
      return base::Fail(base::Kind::kInvalid, "", "fleet",
                        "plain policies want machines of one size; bestfit and fgd do not");
    }
  }
  std::vector<baseline::Job> jobs;
  for (const trace::Job& job : workload.jobs) {
    TRY(const baseline::Job plain, JobOf(job));
    jobs.push_back(plain);
  }
  const auto stays =
      baseline::Play(jobs, static_cast<int>(trace::GpusOf(workload.fleet) / gpus), gpus, policy);
  report::Run run{.costs = kNoCosts};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    run.jobs.push_back(RecordOf(workload.jobs[i], stays[i]));
  }
  return run;
}

base::Result<report::Run> PlayPlaced(const trace::Workload& workload, baseline::Placing placing) {
  TRY_DO(CheckFaults(workload.faults));
  for (const trace::Job& job : workload.jobs) {
    for (const trace::Member& member : job.gang) {
      if (member.labels.empty()) continue;
      return base::Fail(base::Kind::kInvalid, "", "job " + job.name,
                        "plain policies know no labels");
    }
  }
  PlacedRoom room(workload, placing);
  const auto stays = baseline::Hold(room.Waiting(), room, false);
  report::Run run{.costs = kNoCosts};
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    run.jobs.push_back(RecordOf(workload.jobs[i], stays[i]));
    for (report::Stay& stay : run.jobs.back().stays) stay.machines = room.MachinesOf(i);
  }
  return run;
}

}  // namespace pondage::replay
