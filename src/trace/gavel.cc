// Gavel: jobs of so many steps, and steps a second by type of GPU and size of the gang.

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trace/amount.h"
#include "trace/csv.h"
#include "trace/read.h"
#include "trace/wrong.h"

namespace pondage::trace {

namespace json = boost::json;

namespace {

constexpr std::int64_t kMicro = 1'000'000;
constexpr std::string_view kApart = "_unconsolidated";

// Steps a second by GPU type ("v100", "v100_unconsolidated") and "('ResNet-18 (batch size 16)',
// 1)".
using Throughputs = std::map<std::string, std::map<std::string, std::int64_t>>;

Throughputs Parse(std::string_view text) {
  json::error_code wrong;
  const json::value root = json::parse({text.data(), text.size()}, wrong);
  if (wrong || !root.is_object()) GiveUp("throughputs: not a JSON object");
  Throughputs table;
  for (const auto& [type, kinds] : root.get_object()) {
    if (!kinds.is_object()) GiveUp("throughputs: {} is not an object", std::string(type));
    for (const auto& [kind, others] : kinds.get_object()) {
      const json::value* alone =
          others.is_object() ? others.get_object().if_contains("null") : nullptr;
      if (alone == nullptr || !alone->is_number()) {
        GiveUp("throughputs: {}: {} has no number \"null\"", std::string(type), std::string(kind));
      }
      const double speed = alone->to_number<double>();
      if (!(speed >= 0 && speed < 1e9)) GiveUp("throughputs: {} is no speed", speed);
      table[type][kind] = static_cast<std::int64_t>(speed * kMicro + 0.5);
    }
  }
  return table;
}

// Of one kind of job on every type that the table knows.
std::vector<Speed> SpeedsOf(const Throughputs& table, const std::string& kind) {
  std::vector<Speed> speeds;
  for (const auto& [type, kinds] : table) {
    if (type.ends_with(kApart)) continue;
    const auto find = [&](const std::string& name) -> std::int64_t {
      const auto by_type = table.find(name);
      if (by_type == table.end()) return 0;
      const auto by_kind = by_type->second.find(kind);
      return by_kind == by_type->second.end() ? 0 : by_kind->second;
    };
    if (!kinds.contains(kind)) continue;
    speeds.push_back({.gpu_type = type,
                      .together_microsteps_s = find(type),
                      .apart_microsteps_s = find(type + std::string(kApart))});
  }
  return speeds;
}

}  // namespace

base::Result<std::vector<Job>> Gavel(std::string_view text, std::string_view throughputs_json) {
  return Guard("", [&] {
    const Throughputs throughputs = Parse(throughputs_json);
    Table table(text, ',');
    const auto id = table.Column("job_id"), type = table.Column("job_type"),
               gpus = table.Column("scale_factor"), steps = table.Column("total_steps"),
               submit = table.Column("arrival_time");
    std::vector<Job> jobs;
    while (table.Next()) {
      Job job{.name = fmt::format("job-{}", table.Text(id))};
      job.submit = base::Instant{} + table.Length(submit, 1'000);
      job.steps = table.Whole(steps, 1, 1'000'000'000'000);
      const std::int64_t count = table.Whole(gpus, 1, 1'000);
      job.gang.push_back({.gpu = base::WholeGpus(count)});
      job.speeds = SpeedsOf(throughputs, fmt::format("('{}', {})", table.Text(type), count));
      std::int64_t best = 0;
      for (const Speed& speed : job.speeds) best = std::max(best, speed.together_microsteps_s);
      if (best == 0) table.Bad(type, fmt::format("a job with a known speed on {} GPUs", count));
      // 1e12 steps at 1e-6 a second still fit; a started millisecond counts.
      const __int128 length = (static_cast<__int128>(job.steps) * kMicro * 1'000 + best - 1) / best;
      if (length > 3'155'760'000'000) table.Bad(steps, "a job that ends within a hundred years");
      job.duration = {static_cast<std::int64_t>(length)};
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

}  // namespace pondage::trace
