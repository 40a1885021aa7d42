#include "trace/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/pollux.h"
#include "trace/yaml.h"

namespace pondage::trace {

namespace {

constexpr std::pair<std::string_view, Format> kFormats[] = {
    {"pondage", Format::kPondage}, {"openb", Format::kOpenb},       {"philly", Format::kPhilly},
    {"muri", Format::kMuri},       {"tiresias", Format::kTiresias}, {"pollux", Format::kPollux},
    {"gavel", Format::kGavel},     {"slurm", Format::kSlurm}};

// The machines of the papers, where their files do not list them.
std::vector<Machines> Usual(Format format) {
  const auto machines = [](std::string name, int count, int gpus, std::string type = "") {
    return Machines{
        .name = std::move(name), .count = count, .gpus = gpus, .gpu_type = std::move(type)};
  };
  switch (format) {
    case Format::kMuri:
      return {machines("node", 8, 8)};
    case Format::kTiresias:
      return {machines("node", 4, 4)};
    case Format::kPollux:
      return {machines("node", 16, 4)};
    case Format::kGavel:
      return {machines("v100", 2, 4, "v100"), machines("p100", 4, 4, "p100"),
              machines("k80", 6, 4, "k80")};
    default:
      return {};
  }
}

base::Result<std::map<std::string, PolluxTables>> PolluxModels(const Files& files,
                                                               const std::string& folder) {
  const std::pair<const char*, std::vector<int>> measured[] = {
      {"bert", {12, 24, 48, 96, 192, 384}},
      {"cifar10", {128, 256, 512, 1024, 2048, 4096}},
      {"deepspeech2", {20, 40, 80, 160, 320, 640}},
      {"imagenet", {200, 400, 800, 1600, 3200, 6400, 12800}},
      {"ncf", {256, 512, 1024, 2048, 4096, 8192, 16384, 32768}},
      {"yolov3", {8, 16, 32, 64, 128, 256, 512}}};
  std::map<std::string, PolluxTables> models;
  for (const auto& [name, batches] : measured) {
    const std::string at = folder + "/" + name + "/";
    PolluxTables& tables = models[name];
    TRY(tables.placements, files(at + "placements.csv"));
    TRY(tables.scalability, files(at + "scalability.csv"));
    for (const int batch : batches) {
      TRY(tables.validation[batch], files(fmt::format("{}validation-{}.csv", at, batch)));
    }
  }
  return models;
}

base::Result<std::vector<Job>> ReadJobs(const Files& files, Format format, const std::string& text,
                                        const Take& take) {
  switch (format) {
    case Format::kOpenb:
      return Openb(text);
    case Format::kPhilly:
      return Philly(text);
    case Format::kMuri:
      return Muri(text, 1);
    case Format::kTiresias:
      return Muri(text, 1'000);
    case Format::kSlurm:
      return Slurm(text);
    case Format::kGavel: {
      TRY(const std::string throughputs, files(take.speeds));
      return Gavel(text, throughputs);
    }
    case Format::kPollux: {
      TRY(const auto models, PolluxModels(files, take.speeds));
      return Pollux(text, models);
    }
    case Format::kPondage:
      break;
  }
  return base::Fail(base::Kind::kInvalid, "", "", "it is no trace");
}

base::Result<std::vector<Machines>> ReadMachines(const Files& files, Format format,
                                                 const Take& take) {
  if (!take.fleet.empty()) return take.fleet;
  if (take.machines.empty()) return Usual(format);
  TRY(const std::string text, files(take.machines));
  if (format == Format::kOpenb) return OpenbMachines(text);
  if (format == Format::kPhilly) return PhillyMachines(text);
  return base::Fail(base::Kind::kInvalid, "", take.machines,
                    fmt::format("{} has no file of machines", NameOf(format)));
}

template <class T>
base::Result<T> Named(base::Result<T> result, const std::string& path) {
  if (!result && result.error().object.empty()) result.error().object = path;
  return result;
}

void Choose(std::vector<Job>& jobs, const Take& take) {
  std::erase_if(jobs, [&](const Job& job) {
    return (take.from && job.submit < *take.from) || (take.until && job.submit >= *take.until) ||
           (!take.queues.empty() && !take.queues.contains(job.queue));
  });
  SortBySubmission(jobs);
  if (!take.at_once || jobs.empty()) return;
  const base::Instant first = jobs.front().submit;
  for (Job& job : jobs) job.submit = first;
}

}  // namespace

std::optional<Format> FormatOf(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, [](const auto& row) { return row.first; });
  if (found == std::end(kFormats)) return std::nullopt;
  return found->second;
}

std::string_view NameOf(Format format) {
  const auto found =
      std::ranges::find(kFormats, format, [](const auto& row) { return row.second; });
  return found->first;
}

base::Result<Workload> Read(const Files& files, Format format, const std::string& path,
                            const Take& take) {
  TRY(const std::string text, Named(files(path), path));
  if (format == Format::kPondage) return Named(Yaml(text, files), path);
  Workload workload{.source = path};
  TRY(workload.jobs, Named(ReadJobs(files, format, text, take), path));
  TRY(workload.fleet, Named(ReadMachines(files, format, take), take.machines));
  Choose(workload.jobs, take);
  std::set<std::string> queues;
  for (const Job& job : workload.jobs) {
    if (!job.queue.empty()) queues.insert(job.queue);
  }
  for (const std::string& queue : queues) workload.queues.push_back({.name = queue});
  TRY_DO(Check(workload));
  return workload;
}

}  // namespace pondage::trace
