#include "trace/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "trace/amount.h"
#include "trace/read.h"
#include "trace/yaml_field.h"
#include "trace/yaml_rules.h"

namespace pondage::trace {

namespace {

constexpr std::size_t kLargestText = 16u << 20;
constexpr std::int64_t kMostServers = 100'000;
constexpr std::int64_t kMostJobs = 1'000'000;
constexpr std::int64_t kMilli = 1'000;
constexpr std::int64_t kMicro = 1'000'000;
// A day on which a week begins, for jobs that come from no calendar: 1970-01-05.
constexpr base::Instant kMonday{4 * 86'400'000LL};

class Reader {
 public:
  Reader(std::string_view text, const Files& files) : root_(Field::Root(text)), files_(files) {}

  Workload Read() {
    ReadFleet(root_.At("fleet"));
    ReadQueues(root_.At("queues"));
    ReadJobs(root_.At("jobs"));
    ReadFaults(root_.At("faults"), workload_.faults);
    ReadPolicy(root_.At("policy"), workload_.policy);
    root_.NothingElse();
    return std::move(workload_);
  }

 private:
  static std::map<std::string, std::string> Labels(const Field& field) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : field.Entries()) labels[name] = value.Text();
    return labels;
  }
  static base::MilliGpu Gpus(const Field& field, base::MilliGpu otherwise) {
    return {field.Number(kMilli, 0, kMostServers * 8 * kMilli, otherwise.value)};
  }
  static base::MilliCpu Cpus(const Field& field) {
    return {field.Number(kMilli, 0, 1'000'000 * kMilli, 0)};
  }

  void ReadFleet(const Field& fleet) {
    std::int64_t servers = 0;
    for (Field field : fleet.List()) {
      Machines machines;
      machines.count = static_cast<int>(field.At("servers").Whole(1, kMostServers, 1));
      machines.gpus = static_cast<int>(field.At("gpus").Whole(0, 64, 0));
      machines.gpu_type = field.At("type").Text();
      machines.gpu_memory = field.At("gpu-memory").Size();
      machines.cpu = Cpus(field.At("cpus"));
      machines.memory = field.At("memory").Size();
      machines.labels = Labels(field.At("labels"));
      machines.name = field.At("name").Text(
          workload_.fleet.empty()
              ? "node"
              : fmt::format("node-{}", char('a' + workload_.fleet.size() % 26)));
      field.NothingElse();
      if ((servers += machines.count) > kMostServers) field.Bad("more than 100000 servers");
      workload_.fleet.push_back(std::move(machines));
    }
  }

  void ReadQueues(const Field& queues) {
    for (Field field : queues.List()) {
      queue::Spec spec;
      spec.name = field.At("name").Text();
      if (spec.name.empty()) field.Bad("a queue wants a name");
      spec.parent = field.At("parent").Text();
      spec.guarantee = Gpus(field.At("guarantee"), {});
      if (Field limit = field.At("limit"); limit.Present()) spec.limit = Gpus(limit, {});
      spec.max_run = field.At("longest-run").MaybeLength();
      field.NothingElse();
      workload_.queues.push_back(std::move(spec));
    }
  }

  void ReadJobs(const Field& jobs) {
    const auto start = root_.At("start").MaybeMoment();
    for (Field field : jobs.List()) {
      if (field.At("trace").Present()) {
        TakeTrace(field);
      } else {
        written_.push_back(field);
      }
    }
    SortBySubmission(workload_.jobs);
    const base::Instant first = start                    ? *start
                                : workload_.jobs.empty() ? kMonday
                                                         : workload_.jobs.front().submit;
    for (Field& field : written_) Write(field, first);
    SortBySubmission(workload_.jobs);
    if (!workload_.jobs.empty() && workload_.jobs.back().submit - base::Instant{0} > kLongest)
      jobs.Bad("jobs are submitted within a hundred years from 1970 on");
  }

  void TakeTrace(Field& field) {
    const auto format = FormatOf(field.At("trace").Text());
    if (!format || *format == Format::kPondage) {
      field.At("trace").Bad("known: openb philly muri tiresias pollux gavel slurm");
    }
    Take take;
    take.from = field.At("from").MaybeMoment();
    take.until = field.At("until").MaybeMoment();
    take.speeds = field.At("speeds").Text();
    take.machines = field.At("machines").Text();
    std::map<std::string, std::string> names;
    for (const auto& [tenant, name] : field.At("tenants").Entries()) {
      names[tenant] = name.Text(tenant);
      take.queues.insert(tenant);
    }
    if (!workload_.fleet.empty()) take.fleet = workload_.fleet;
    const Field file = field.At("file");
    auto read = trace::Read(files_, *format, file.Text(), take);
    if (!read) file.Bad(fmt::format("{}: {}", read.error().object, read.error().message));
    if (workload_.fleet.empty()) workload_.fleet = read->fleet;

    const std::int64_t faster = field.At("faster").Number(kMilli, 1, 1'000'000, kMilli);
    const std::string limits = field.At("limits").Text("none");
    if (limits != "none" && limits != "exact") field.At("limits").Bad("none or exact");
    const std::string queue = field.At("queue").Text();
    field.NothingElse();
    if (!Hurry(read->jobs, faster)) field.At("faster").Bad("too slow");
    for (Job& job : read->jobs) {
      if (limits == "exact") job.limit = job.duration;
      if (!queue.empty()) {
        job.queue = queue;
      } else if (const auto name = names.find(job.queue); name != names.end()) {
        job.queue = name->second;
      }
      Add(field, std::move(job));
    }
    if (!read_queues_stand_) AddQueues(*read, names, queue);
  }

  // A file that lists no queues has those of its traces.
  void AddQueues(const Workload& read, const std::map<std::string, std::string>& names,
                 const std::string& queue) {
    for (const queue::Spec& spec : read.queues) {
      const auto renamed = names.find(spec.name);
      const std::string name = !queue.empty()           ? queue
                               : renamed != names.end() ? renamed->second
                                                        : spec.name;
      if (std::ranges::find(workload_.queues, name, &queue::Spec::name) == workload_.queues.end()) {
        workload_.queues.push_back({.name = name});
      }
    }
  }

  void Write(Field& field, base::Instant start) {
    Job job;
    job.name = field.At("name").Text(fmt::format("job-{}", ++unnamed_));
    job.user = field.At("user").Text();
    job.queue = field.At("queue").Text();
    job.priority = static_cast<int>(field.At("priority").Whole(-1'000'000'000, 1'000'000'000, 0));
    job.submit = start + field.At("submitted").Length({});
    job.limit = field.At("limit").MaybeLength();
    if (Field members = field.At("members"); members.Present()) {
      for (Field member : members.List()) {
        job.gang.push_back(MemberOf(member));
        member.NothingElse();
      }
      if (job.gang.empty()) members.Bad("a gang has at least one member");
    } else {
      job.gang.push_back(MemberOf(field));
    }
    ReadWork(field, job);
    if (const auto started = field.At("started").MaybeLength()) job.started = start + *started;
    const std::int64_t times = field.At("times").Whole(1, kMostJobs, 1);
    const base::Millis every = field.At("every").Length({});
    if (times > 1 && every.value > 3'155'760'000'000 / times) field.At("every").Bad("too long");
    field.NothingElse();
    if (times == 1) return Add(field, std::move(job));
    for (std::int64_t i = 0; i < times; ++i) {
      Job one = job;
      one.name = fmt::format("{}-{}", job.name, i + 1);
      one.submit = job.submit + every * i;
      if (job.started) one.started = *job.started + every * i;
      Add(field, std::move(one));
    }
  }

  static std::optional<base::Role> RoleIn(const Field& field) {
    if (!field.Present()) return std::nullopt;
    const auto role = RoleOf(field.Text());
    if (!role) field.Bad("chief, master, ps, worker or evaluator");
    return role;
  }

  static Member MemberOf(Field& field) {
    Member member;
    member.count = static_cast<int>(field.At("workers").Whole(1, kMostServers, 1));
    member.gpu = Gpus(field.At("gpus"), base::WholeGpus(1));
    if (member.gpu.value > kMilli && member.gpu.value % kMilli != 0) {
      field.At("gpus").Bad("more than one GPU is a whole number of them");
    }
    member.gpu_types = field.At("type").Texts();
    member.cpu = Cpus(field.At("cpus"));
    member.memory = field.At("memory").Size();
    member.labels = Labels(field.At("labels"));
    member.role = RoleIn(field.At("role"));
    return member;
  }

  // `lasts`, or `steps` at `speeds`.
  static void ReadWork(Field& field, Job& job) {
    const Field lasts = field.At("lasts");
    job.steps = field.At("steps").Whole(0, 1'000'000'000'000, 0);
    std::int64_t best = 0;
    for (auto& [type, speed] : field.At("speeds").Entries()) {
      Speed known{.gpu_type = type};
      constexpr std::int64_t kFastest = 1'000'000'000 * kMicro;
      if (speed.IsMap()) {
        Field both = speed;
        known.together_microsteps_s = both.At("together").Number(kMicro, 0, kFastest, 0);
        known.apart_microsteps_s =
            both.At("apart").Number(kMicro, 0, kFastest, known.together_microsteps_s);
        both.NothingElse();
      } else {
        known.together_microsteps_s = speed.Number(kMicro, 0, kFastest, 0);
        known.apart_microsteps_s = known.together_microsteps_s;
      }
      best = std::max(best, known.together_microsteps_s);
      job.speeds.push_back(std::move(known));
    }
    if (!job.speeds.empty()) {
      if (job.steps == 0 || best == 0) field.Bad("speeds want steps, and one speed above 0");
      if (lasts.Present()) lasts.Bad("it follows from steps and speeds");
      const __int128 length = (static_cast<__int128>(job.steps) * kMicro * 1'000 + best - 1) / best;
      if (length > 3'155'760'000'000) field.At("steps").Bad("that takes more than a hundred years");
      job.duration = {static_cast<std::int64_t>(length)};
    } else if (!lasts.Present()) {
      field.At("lasts").Bad("missing, a length of time such as 2h is wanted");
    } else {
      job.duration = lasts.Length({});
    }
  }

  void Add(const Field& field, Job job) {
    if (workload_.jobs.size() >= kMostJobs) field.Bad("more than 1000000 jobs");
    workload_.jobs.push_back(std::move(job));
  }

  Field root_;
  const Files& files_;
  Workload workload_;
  std::vector<Field> written_;
  int unnamed_ = 0;
  bool read_queues_stand_ = root_.At("queues").Present();
};

}  // namespace

base::Result<Workload> Yaml(std::string_view text, const Files& files) {
  if (text.size() > kLargestText) {
    return base::Fail(base::Kind::kInvalid, "", "", "it is larger than 16 MiB");
  }
  auto workload = Guard("", [&] {
    try {
      return Reader(text, files).Read();
    } catch (const YAML::Exception& broken) {
      GiveUp("line {}: {}", broken.mark.line + 1, broken.msg);
    }
  });
  if (workload) TRY_DO(Check(*workload));
  return workload;
}

}  // namespace pondage::trace
