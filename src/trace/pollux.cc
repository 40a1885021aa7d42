#include "trace/pollux.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "trace/csv.h"
#include "trace/wrong.h"

namespace pondage::trace {

namespace {

// What the tables do not say: how many epochs an application trains, and the largest batch that one
// GPU takes at once where that is not the largest measured.
struct Known {
  std::string_view name;
  int epochs;
  int largest_local_batch;  // 0: the largest measured
};
constexpr Known kKnown[] = {{"bert", 2, 0},      {"cifar10", 100, 0}, {"deepspeech2", 80, 0},
                            {"imagenet", 90, 0}, {"ncf", 10, 0},      {"yolov3", 50, 8}};
constexpr int kPerMachine = 4;

struct StepTime {
  int local_batch = 0;
  double step_s = 0, sync_s = 0;
};
struct Epoch {
  double progress = 0;  // in steps of the smallest batch, at its end
  double gradient_square = 0, gradient_variance = 0;
};

double Real(const Table& table, std::size_t column) {
  const std::string text(table.Text(column));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) table.Bad(column, "a number");
  return value;
}

class Application {
 public:
  Application(const Known& known, const PolluxTables& tables) : known_(known) {
    if (tables.validation.empty()) GiveUp("{} has no validation table", known.name);
    for (const auto& [batch, text] : tables.validation) epochs_[batch] = Epochs(text);
    ReadPlacements(tables.placements);
    ReadScalability(tables.scalability);
  }

  // How long a job of `gpus` and global `batch` trains.
  base::Millis Duration(int gpus, int batch) const {
    const auto [first, last] = std::pair(epochs_.begin()->first, epochs_.rbegin()->first);
    const auto found = epochs_.find(batch);
    if (found == epochs_.end()) {
      GiveUp("{}: batch {} was not measured ({} to {} were)", known_.name, batch, first, last);
    }
    // A batch too large for its GPUs is worked off in several parts; a single GPU needs two to know
    // its gradient's noise.
    const int local = (batch + gpus - 1) / gpus;
    int parts = (local + largest_local_ - 1) / largest_local_;
    if (gpus == 1 && batch > first) parts = std::max(parts, 2);
    int part = (local + parts - 1) / parts;
    part = std::min(part, last / (gpus * parts));
    const StepTime time = TimeOf(gpus, part);
    const double step_s = time.step_s + (parts - 1) * (time.step_s - time.sync_s);
    const double scale = static_cast<double>(gpus) * part * parts / first;
    std::int64_t sum_s = 0;
    double done = 0;
    for (int epoch = 0; epoch < known_.epochs; ++epoch) {
      const Epoch& noise = found->second[static_cast<std::size_t>(epoch)];
      const double gain = (noise.gradient_variance + noise.gradient_square) /
                          (noise.gradient_variance / scale + noise.gradient_square);
      const double until = ProgressAfter(epoch);
      sum_s += std::llround((until - done) * step_s / gain);  // an epoch ends at a whole second
      done = until;
    }
    return base::SecondsLong(sum_s);
  }

 private:
  std::vector<Epoch> Epochs(std::string_view text) const {
    Table table(text, ',');
    const auto progress = table.Column("progress"), square = table.Column("grad_sqr"),
               variance = table.Column("grad_var");
    std::vector<Epoch> epochs;
    while (table.Next()) {
      epochs.push_back({Real(table, progress), Real(table, square), Real(table, variance)});
      if (epochs.back().gradient_square < 0 || epochs.back().gradient_variance <= 0) {
        table.Bad(variance, "a variance above 0");
      }
    }
    if (static_cast<int>(epochs.size()) < known_.epochs) {
      GiveUp("{}: {} epochs were measured, it trains {}", known_.name, epochs.size(),
             known_.epochs);
    }
    return epochs;
  }

  void ReadPlacements(std::string_view text) {
    Table table(text, ',');
    const auto placement = table.Column("placement"), local = table.Column("local_bsz"),
               step = table.Column("step_time"), sync = table.Column("sync_time");
    while (table.Next()) {
      times_[std::string(table.Text(placement))].push_back(
          {static_cast<int>(table.Whole(local, 1, 1 << 24)), Real(table, step), Real(table, sync)});
      largest_local_ = std::max(largest_local_, static_cast<int>(table.Whole(local, 1, 1 << 24)));
    }
    if (times_.empty()) GiveUp("{}: no placement was measured", known_.name);
    if (known_.largest_local_batch > 0) largest_local_ = known_.largest_local_batch;
  }

  // Measured for many machines: (machines, GPUs) instead of a placement.
  void ReadScalability(std::string_view text) {
    Table table(text, ',');
    const auto machines = table.Column("num_nodes"), gpus = table.Column("num_replicas"),
               local = table.Column("local_bsz"), step = table.Column("step_time"),
               sync = table.Column("sync_time");
    while (table.Next()) {
      times_[fmt::format("{}x{}", table.Text(machines), table.Text(gpus))].push_back(
          {static_cast<int>(table.Whole(local, 1, 1 << 24)), Real(table, step), Real(table, sync)});
    }
  }

  // On `gpus` packed four to a machine; between two measured batches on the line through them.
  StepTime TimeOf(int gpus, int local) const {
    // Placements are written with the odd machine first: "24" is two and four.
    const int whole = gpus / kPerMachine, rest = gpus % kPerMachine;
    std::string placement = rest > 0 ? std::to_string(rest) : "";
    placement.append(static_cast<std::size_t>(whole), '0' + kPerMachine);
    auto found = times_.find(placement);
    if (found == times_.end()) {
      found = times_.find(fmt::format("{}x{}", whole + (rest > 0 ? 1 : 0), gpus));
    }
    if (found == times_.end()) GiveUp("{}: {} GPUs were not measured", known_.name, gpus);
    std::vector<StepTime> times = found->second;
    std::ranges::sort(times, {}, &StepTime::local_batch);
    const auto above = std::ranges::lower_bound(times, local, {}, &StepTime::local_batch);
    if (above == times.end() || (above == times.begin() && above->local_batch != local)) {
      GiveUp("{}: batch {} on one of {} GPUs was not measured", known_.name, local, gpus);
    }
    if (above->local_batch == local) return *above;
    const StepTime &low = above[-1], &high = *above;
    const double part = static_cast<double>(local - low.local_batch) /
                        static_cast<double>(high.local_batch - low.local_batch);
    return {local, low.step_s + part * (high.step_s - low.step_s),
            low.sync_s + part * (high.sync_s - low.sync_s)};
  }

  double ProgressAfter(int epoch) const {
    double least = epochs_.begin()->second[static_cast<std::size_t>(epoch)].progress;
    for (const auto& [batch, epochs] : epochs_) {
      least = std::min(least, epochs[static_cast<std::size_t>(epoch)].progress);
    }
    return least;
  }

  const Known& known_;
  std::map<int, std::vector<Epoch>> epochs_;                         // by global batch
  std::map<std::string, std::vector<StepTime>, std::less<>> times_;  // by placement
  int largest_local_ = 0;
};

}  // namespace

base::Result<std::vector<Job>> Pollux(std::string_view text,
                                      const std::map<std::string, PolluxTables>& models) {
  return Guard("", [&] {
    std::map<std::string, Application, std::less<>> applications;
    for (const auto& [name, tables] : models) {
      const auto known = std::ranges::find(kKnown, name, &Known::name);
      if (known == std::end(kKnown)) GiveUp("application {} is not known", name);
      applications.emplace(name, Application(*known, tables));
    }
    Table table(text, ',');
    const auto name = table.Column("name"), time = table.Column("time"),
               application = table.Column("application"), gpus = table.Column("num_replicas"),
               batch = table.Column("batch_size");
    std::vector<Job> jobs;
    while (table.Next()) {
      Job job{.name = std::string(table.Text(name))};
      const auto found = applications.find(table.Text(application));
      if (found == applications.end()) table.Bad(application, "an application with tables");
      const auto count = static_cast<int>(table.Whole(gpus, 1, 64));
      job.submit = base::Instant{} + table.Length(time, 1'000);
      job.duration =
          found->second.Duration(count, static_cast<int>(table.Whole(batch, 1, 1 << 24)));
      job.gang.push_back({.gpu = base::WholeGpus(count)});
      jobs.push_back(std::move(job));
    }
    return jobs;
  });
}

}  // namespace pondage::trace
