// The public traces whose rows state when a job came and how long it ran: openb, Philly, Muri,
// Tiresias.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trace/amount.h"
#include "trace/csv.h"
#include "trace/read.h"
#include "trace/wrong.h"

namespace pondage::trace {

namespace {

constexpr std::int64_t kMostGpus = 100'000;  // of one gang
constexpr std::int64_t kMostMilliCpu = 1'000'000'000;
constexpr std::int64_t kMostMib = 1LL << 40;
constexpr base::Bytes kMib{1LL << 20};

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

base::Result<std::vector<Job>> Openb(std::string_view pods) {
  return Guard("", [&] {
    Table table(pods, ',');
    const auto name = table.Column("name"), cpu = table.Column("cpu_milli"),
               memory = table.Column("memory_mib"), gpus = table.Column("num_gpu"),
               milli = table.Column("gpu_milli");
    const bool whole = table.Has("qos");  // some files stop after the GPUs
    const auto spec = whole ? table.Column("gpu_spec") : 0, qos = whole ? table.Column("qos") : 0,
               created = whole ? table.Column("creation_time") : 0,
               deleted = whole ? table.Column("deletion_time") : 0,
               scheduled = whole ? table.Column("scheduled_time") : 0;
    std::vector<Job> jobs;
    while (table.Next()) {
      Job job{.name = std::string(table.Text(name))};
      Member pod{.cpu = {table.Whole(cpu, 0, kMostMilliCpu)}};
      pod.memory = kMib * table.Whole(memory, 0, kMostMib);
      const std::int64_t count = table.Whole(gpus, 0, kMostGpus);
      pod.gpu = count == 1 ? base::MilliGpu{table.Whole(milli, 1, 1'000)} : base::WholeGpus(count);
      if (whole) {
        pod.gpu_types = SplitAt(table.Text(spec), '|');
        job.queue = table.Text(qos);
        job.submit = base::Instant{} + table.Length(created, 1'000);
        // 897 pods were never scheduled: they ran for no time.
        if (!table.Text(scheduled).empty()) {
          const auto start = table.Length(scheduled, 1'000), end = table.Length(deleted, 1'000);
          if (end > start) job.duration = end - start;
        }
      }
      job.gang.push_back(std::move(pod));
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

base::Result<std::vector<Machines>> OpenbMachines(std::string_view nodes) {
  return Guard("", [&] {
    Table table(nodes, ',');
    const auto name = table.Column("sn"), cpu = table.Column("cpu_milli"),
               memory = table.Column("memory_mib"), gpus = table.Column("gpu"),
               model = table.Column("model");
    std::vector<Machines> fleet;
    while (table.Next()) {
      fleet.push_back({.name = std::string(table.Text(name)),
                       .gpus = static_cast<int>(table.Whole(gpus, 0, 64)),
                       .gpu_type = std::string(table.Text(model)),
                       .cpu = {table.Whole(cpu, 0, kMostMilliCpu)},
                       .memory = kMib * table.Whole(memory, 0, kMostMib)});
    }
    return fleet;
  });
}

base::Result<std::vector<Job>> Philly(std::string_view text) {
  return Guard("", [&] {
    Table table(text, ',');
    const auto submit = table.Column("timestamp"), length = table.Column("duration"),
               gpus = table.Column("num_gpus"), tenant = table.Column("cluster");
    std::vector<Job> jobs;
    while (table.Next()) {
      Job job{.name = fmt::format("job-{}", table.line() - 1)};
      job.queue = table.Text(tenant);
      job.submit = table.Moment(submit);
      job.duration = table.Length(length, 1'000);
      job.gang.push_back({.gpu = base::WholeGpus(table.Whole(gpus, 1, kMostGpus))});
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

base::Result<std::vector<Machines>> PhillyMachines(std::string_view text) {
  return Guard("", [&] {
    Table table(text, ',');
    const auto name = table.Column("machineId"), gpus = table.Column("number of GPUs"),
               memory = table.Column("single GPU mem");
    std::vector<Machines> fleet;
    while (table.Next()) {
      const auto size = Size(table.Text(memory));
      if (!size) table.Bad(memory, "a size");
      fleet.push_back({.name = std::string(table.Text(name)),
                       .gpus = static_cast<int>(table.Whole(gpus, 0, 64)),
                       .gpu_type = std::string(table.Text(memory)),
                       .gpu_memory = *size});
    }
    return fleet;
  });
}

base::Result<std::vector<Job>> Muri(std::string_view text, std::int64_t unit_ms) {
  return Guard("", [&] {
    Table table(text, ',');
    const auto id = table.Column("job_id"), gpus = table.Column("num_gpu"),
               submit = table.Column("submit_time"), length = table.Column("duration"),
               steps = table.Column("iterations");
    std::vector<Job> jobs;
    while (table.Next()) {
      Job job{.name = fmt::format("job-{}", table.Text(id))};
      job.submit = base::Instant{} + table.Length(submit, unit_ms);
      job.duration = table.Length(length, unit_ms);
      job.steps = table.Whole(steps, 0, 1'000'000'000'000);
      job.gang.push_back({.gpu = base::WholeGpus(table.Whole(gpus, 1, kMostGpus))});
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

}  // namespace pondage::trace
