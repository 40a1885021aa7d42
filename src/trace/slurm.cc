// Slurm's accounting: what `sacct --parsable2 --allusers --format=...` prints.

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

// One entry of "billing=8,cpu=32,gres/gpu:a100=8,mem=256G,node=2"; empty: it is not there.
std::string_view Entry(std::string_view tres, std::string_view name) {
  while (!tres.empty()) {
    const auto end = std::min(tres.find(','), tres.size());
    const std::string_view entry = tres.substr(0, end);
    if (const auto equals = entry.find('=');
        entry.substr(0, equals) == name && equals != std::string_view::npos) {
      return entry.substr(equals + 1);
    }
    tres.remove_prefix(std::min(end + 1, tres.size()));
  }
  return {};
}

// The type of "gres/gpu:a100=8"; empty: any.
std::string_view GpuType(std::string_view tres) {
  constexpr std::string_view kTyped = "gres/gpu:";
  const auto at = tres.find(kTyped);
  if (at == std::string_view::npos) return {};
  tres.remove_prefix(at + kTyped.size());
  return tres.substr(0, tres.find('='));
}

class Sacct {
 public:
  explicit Sacct(std::string_view text) : table_(text, '|') {}

  std::vector<Job> Jobs() {
    std::vector<Job> jobs;
    while (table_.Next()) {
      if (table_.Text(id_).contains('.')) continue;  // a step of a job
      if (auto job = One()) jobs.push_back(std::move(*job));
    }
    return jobs;
  }

 private:
  std::size_t Optional(std::string_view name) const {
    return table_.Has(name) ? table_.Column(name) : kAbsent;
  }
  std::string Maybe(std::size_t column) const {
    return column == kAbsent ? std::string() : std::string(table_.Text(column));
  }

  // None: it never ran, or not on GPUs.
  std::optional<Job> One() const {
    const std::size_t tres_column = alloc_ == kAbsent ? req_ : alloc_;
    if (tres_column == kAbsent) GiveUp("line 1: there is no column AllocTRES or ReqTRES");
    std::string tres(table_.Text(tres_column));
    if (tres.empty() && req_ != kAbsent) tres = table_.Text(req_);
    const auto number = [&](std::string_view name) {
      const std::string_view text = Entry(tres, name);
      if (text.empty()) return std::int64_t{0};
      const auto value = Whole(text);
      if (!value || *value < 0 || *value > 1'000'000) {
        table_.Bad(tres_column, fmt::format("resources with a number for {}", name));
      }
      return *value;
    };
    std::int64_t gpus = number("gres/gpu");
    const std::string type(GpuType(tres));
    if (gpus == 0 && !type.empty()) gpus = number("gres/gpu:" + type);
    const auto elapsed = SlurmLength(table_.Text(elapsed_));
    if (!elapsed) table_.Bad(elapsed_, "a length such as 1-02:03:04");
    if (gpus == 0 || elapsed->value == 0) return std::nullopt;

    Job job{.name = std::string(table_.Text(id_)), .queue = Maybe(queue_), .user = Maybe(user_)};
    job.submit = table_.Moment(submit_);
    job.duration = *elapsed;
    if (const std::string limit = Maybe(limit_); !limit.empty() && limit.front() < 'A') {
      job.limit = SlurmLength(limit);  // else "UNLIMITED" or "Partition_Limit"
      if (!job.limit) table_.Bad(limit_, "a length such as 1-02:03:04");
    }
    // "Unknown" of one that never started.
    if (const std::string start = Maybe(start_); !start.empty() && start.front() < 'A') {
      job.started = table_.Moment(start_);
    }
    Member each;
    const std::int64_t nodes = std::max<std::int64_t>(number("node"), 1);
    const bool even = gpus % nodes == 0;
    each.count = even ? static_cast<int>(nodes) : 1;
    each.gpu = base::WholeGpus(gpus / each.count);
    each.cpu = {number("cpu") * 1'000 / each.count};
    if (const auto memory = Size(Entry(tres, "mem"))) each.memory = {memory->value / each.count};
    if (!type.empty()) each.gpu_types.push_back(type);
    job.gang.push_back(std::move(each));
    return job;
  }

  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  Table table_;
  std::size_t id_ = table_.Column("JobID"), submit_ = table_.Column("Submit"),
              elapsed_ = table_.Column("Elapsed"), alloc_ = Optional("AllocTRES"),
              req_ = Optional("ReqTRES"), user_ = Optional("User"), queue_ = Optional("Account"),
              limit_ = Optional("Timelimit"), start_ = Optional("Start");
};

}  // namespace

base::Result<std::vector<Job>> Slurm(std::string_view sacct) {
  return Guard("", [&] { return Sacct(sacct).Jobs(); });
}

}  // namespace pondage::trace
