#include "submission/run_job.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "terminal/text.h"

namespace pondage::submission {
namespace {

using base::Fail;
using base::Kind;

base::Result<Mount> ParseMount(const std::string& text, const std::string& folder) {
  const auto bad = [&] {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("--mount takes SRC:DST or SRC:DST:ro, not \"{}\"", text));
  };
  const auto parts = terminal::Split(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() || !parts[1].starts_with('/'))
    return bad();
  if (parts.size() == 3 && parts[2] != "ro" && parts[2] != "rw") return bad();
  Mount mount{parts[0], parts[1], parts.size() == 3 && parts[2] == "ro"};
  if (!mount.source.starts_with('/')) mount.source = folder + "/" + mount.source;
  return mount;
}

base::Result<std::pair<std::string, std::string>> ParseEnv(const std::string& text,
                                                           const terminal::Surroundings& around) {
  const std::size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (name.empty() || name.find(' ') != std::string::npos) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("--env takes K=V or K, not \"{}\"", text));
  }
  if (name == "TF_CONFIG") {
    return Fail(Kind::kInvalid, "PND-C002", "",
                "TF_CONFIG is made for each replica and cannot be given");
  }
  std::string value = equals == std::string::npos ? around.Variable(name) : text.substr(equals + 1);
  return std::pair(std::move(name), std::move(value));
}

base::Result<std::string> ParseCpu(const std::string& text) {
  char* end = nullptr;
  const double cores = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(cores > 0) || cores > 100'000) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("--cpu takes a number of cores, not \"{}\"", text));
  }
  const auto milli = static_cast<std::int64_t>(cores * 1000 + 0.5);
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : fmt::format("{}m", milli);
}

std::string Sha256Hex(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

base::Result<void> ReadCounts(const grammar::Invocation& line, RunWish& wish) {
  TRY(wish.gpus, line.Number("gpus", 0, 0, 1024));
  TRY(wish.workers, line.Number("workers", 1, 0, 1000));
  TRY(wish.parameter_servers, line.Number("ps", 0, 0, 1000));
  TRY(wish.restarts, line.Number("restarts", 3, 0, 1'000'000));
  wish.chief = line.Has("chief");
  wish.evaluator = line.Has("evaluator");
  wish.legacy_keras = line.Has("legacy-keras");
  if (wish.workers == 0 && !wish.chief) {
    return Fail(Kind::kInvalid, "PND-C002", "", "a job needs a worker or a chief");
  }
  return {};
}

// `--memory 16` is 16 bytes: whoever types that means something else.
base::Result<std::optional<base::Bytes>> SizeMeant(const grammar::Invocation& line,
                                                   const char* flag) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 20;
  TRY(const auto size, line.Size(flag));
  if (size && size->value < kLeast) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("--{} {} is less than 1 MiB: write the unit, as in 16Gi", flag,
                            line.Value(flag)));
  }
  return size;
}

base::Result<void> ReadSizes(const grammar::Invocation& line, RunWish& wish) {
  if (line.Has("cpu")) {
    TRY(const std::string cpu, ParseCpu(line.Value("cpu")));
    wish.cpu = cpu;
  }
  TRY(wish.memory, SizeMeant(line, "memory"));
  TRY(wish.shm, SizeMeant(line, "shm"));
  TRY(wish.time, line.Length("time"));
  TRY(const auto grace, line.Length("grace"));
  if (grace) wish.grace = *grace;
  return {};
}

bool IsLabel(const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !name.empty() && name.size() <= 54 && name.front() >= 'a' && name.front() <= 'z' &&
         name.back() != '-' && name.find_first_not_of(kLetters) == std::string::npos;
}

// A short program name for a path: "train" of "/x/Train_1.py" -> "train-1".
std::string LabelFrom(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash != std::string_view::npos) text.remove_prefix(slash + 1);
  text = text.substr(0, text.rfind('.') == 0 ? text.size() : text.rfind('.'));
  std::string label;
  for (const char c : text) {
    const char lower = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    const bool good = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (good) {
      label += lower;
    } else if (!label.empty() && label.back() != '-') {
      label += '-';
    }
    if (label.size() == 40) break;
  }
  while (!label.empty() && label.back() == '-') label.pop_back();
  while (!label.empty() && !(label.front() >= 'a' && label.front() <= 'z')) label.erase(0, 1);
  return label;
}

}  // namespace

std::string StemOf(const std::vector<std::string>& program) {
  for (const std::string& word : program) {
    if (word.ends_with(".py") || word.ends_with(".sh")) {
      if (std::string label = LabelFrom(word); !label.empty()) return label;
    }
  }
  // `python -m package.module`
  for (std::size_t i = 0; i + 1 < program.size(); ++i) {
    if (program[i] != "-m") continue;
    const std::string& module = program[i + 1];
    const std::size_t dot = module.rfind('.');
    if (std::string label = LabelFrom(dot == std::string::npos ? module : module.substr(dot + 1));
        !label.empty()) {
      return label;
    }
  }
  std::string label = program.empty() ? "" : LabelFrom(program[0]);
  return label.empty() ? "job" : label;
}

std::string ScriptOf(const std::vector<std::string>& program) {
  if (program.size() < 2 || program[1].empty() || program[1].starts_with('-')) return {};
  const std::string& python = program[0];
  const std::string base = python.substr(python.rfind('/') + 1);  // npos + 1 is 0
  return base.starts_with("python") ? program[1] : std::string();
}

std::string KeyedName(const std::string& key) {
  const std::string stem = LabelFrom(key);
  return fmt::format("{}-k{}", stem.empty() ? "job" : stem, Sha256Hex(key).substr(0, 10));
}

base::Result<RunWish> WishOf(const grammar::Invocation& line, const terminal::Surroundings& around,
                             const std::string& folder, const std::string& default_queue) {
  RunWish wish;
  wish.program = line.program;
  TRY_DO(ReadCounts(line, wish));
  TRY_DO(ReadSizes(line, wish));
  wish.image = line.Value("image");
  wish.gpu_type = line.Value("gpu-type");
  wish.queue = line.Value("queue", default_queue);
  wish.priority = line.Value("priority");
  wish.checkpoint_dir = line.Value("checkpoint-dir");
  wish.key = line.Value("idempotency-key");
  for (const std::string& text : line.Values("env")) {
    TRY(auto variable, ParseEnv(text, around));
    wish.env.push_back(std::move(variable));
  }
  for (const std::string& text : line.Values("mount")) {
    TRY(auto mount, ParseMount(text, folder));
    wish.mounts.push_back(std::move(mount));
  }
  wish.named = line.Has("name");
  wish.name = wish.named ? line.Value("name") : StemOf(wish.program);
  if (!IsLabel(wish.name)) {
    return Fail(
        Kind::kInvalid, "PND-C002", "",
        fmt::format(
            "\"{}\" is no job name: small letters, digits and -, at most 54, a letter first",
            wish.name));
  }
  if (!wish.key.empty() && !wish.named) {
    wish.name = KeyedName(wish.key);
    wish.named = true;
  }
  return wish;
}

namespace {

json::array EnvOf(const RunWish& wish) {
  json::array env;
  for (const auto& [name, value] : wish.env) env.push_back({{"name", name}, {"value", value}});
  if (wish.legacy_keras) env.push_back({{"name", "TF_USE_LEGACY_KERAS"}, {"value", "1"}});
  return env;
}

json::object ResourcesOf(const RunWish& wish, bool with_gpus) {
  json::object limits;
  if (with_gpus && wish.gpus > 0) limits["nvidia.com/gpu"] = wish.gpus;
  if (wish.cpu) limits["cpu"] = *wish.cpu;
  if (wish.memory) limits["memory"] = terminal::QuantityOf(*wish.memory);
  return limits.empty() ? json::object() : json::object{{"limits", limits}};
}

void AddVolumes(const RunWish& wish, json::object& pod, json::object& container) {
  json::array volumes;
  json::array mounts;
  for (std::size_t i = 0; i < wish.mounts.size(); ++i) {
    const std::string name = fmt::format("mount-{}", i);
    volumes.push_back({{"name", name}, {"hostPath", {{"path", wish.mounts[i].source}}}});
    json::object mount{{"name", name}, {"mountPath", wish.mounts[i].target}};
    if (wish.mounts[i].read_only) mount["readOnly"] = true;
    mounts.push_back(std::move(mount));
  }
  if (wish.shm) {
    volumes.push_back(
        {{"name", "shm"},
         {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", terminal::QuantityOf(*wish.shm)}}}});
    mounts.push_back({{"name", "shm"}, {"mountPath", "/dev/shm"}});
  }
  if (volumes.empty()) return;
  pod["volumes"] = std::move(volumes);
  container["volumeMounts"] = std::move(mounts);
}

json::object ReplicaSpec(const RunWish& wish, const RunPlace& place, std::int64_t replicas,
                         bool with_gpus) {
  json::object container{{"name", "tensorflow"}, {"image", wish.image}};
  json::array command;
  for (const std::string& word : wish.program) {
    // `$(` would be expanded as a reference to a variable; `$$(` arrives as `$(`.
    std::string safe;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] == '$' && i + 1 < word.size() && (word[i + 1] == '(' || word[i + 1] == '$'))
        safe += '$';
      safe += word[i];
    }
    command.emplace_back(safe);
  }
  container["command"] = std::move(command);
  container["workingDir"] = place.directory;
  if (json::array env = EnvOf(wish); !env.empty()) container["env"] = std::move(env);
  if (json::object resources = ResourcesOf(wish, with_gpus); !resources.empty()) {
    container["resources"] = std::move(resources);
  }
  json::object pod;
  AddVolumes(wish, pod, container);
  pod["containers"] = json::array{std::move(container)};
  pod["terminationGracePeriodSeconds"] = wish.grace.value / 1000;
  json::object made{{"spec", std::move(pod)}};
  if (!place.environment.empty())
    made["metadata"] = {{"annotations", {{"pondage.dev/environment", place.environment}}}};
  return json::object{
      {"replicas", replicas}, {"restartPolicy", "OnFailure"}, {"template", std::move(made)}};
}

json::object AnnotationsOf(const RunWish& wish, const RunPlace& place) {
  json::object annotations{{"pondage.dev/requeue-exit-code", "42"}};
  if (!place.user.empty()) annotations["pondage.dev/user"] = place.user;
  if (!place.work_copy.empty()) annotations["pondage.dev/workdir"] = place.work_copy;
  if (!wish.gpu_type.empty()) annotations["pondage.dev/gpu-type"] = wish.gpu_type;
  if (!wish.checkpoint_dir.empty()) {
    annotations["pondage.dev/checkpoint-dir"] = wish.checkpoint_dir.starts_with('/')
                                                    ? wish.checkpoint_dir
                                                    : place.directory + "/" + wish.checkpoint_dir;
  }
  if (!wish.key.empty()) annotations["pondage.dev/idempotency-key"] = wish.key;
  return annotations;
}

}  // namespace

namespace {

json::object JobAsked(const RunWish& wish, const RunPlace& place) {
  json::object roles;
  if (wish.chief) roles["Chief"] = ReplicaSpec(wish, place, 1, true);
  if (wish.parameter_servers > 0)
    roles["PS"] = ReplicaSpec(wish, place, wish.parameter_servers, false);
  if (wish.workers > 0) roles["Worker"] = ReplicaSpec(wish, place, wish.workers, true);
  if (wish.evaluator) roles["Evaluator"] = ReplicaSpec(wish, place, 1, false);
  // Kubeflow's limit is the count at which a job fails, not the number of its restarts.
  json::object policy{{"backoffLimit", wish.restarts + 1}};
  if (wish.time) policy["activeDeadlineSeconds"] = wish.time->value / 1000;
  json::object scheduling;
  if (!wish.queue.empty()) scheduling["queue"] = wish.queue;
  if (!wish.priority.empty()) scheduling["priorityClass"] = wish.priority;
  if (!scheduling.empty()) policy["schedulingPolicy"] = std::move(scheduling);
  return json::object{
      {"apiVersion", "kubeflow.org/v1"},
      {"kind", "TFJob"},
      {"metadata",
       {{"name", wish.name},
        {"namespace", place.space},
        {"annotations", AnnotationsOf(wish, place)}}},
      {"spec", {{"runPolicy", std::move(policy)}, {"tfReplicaSpecs", std::move(roles)}}}};
}

}  // namespace

std::string DigestOf(const RunWish& wish, const RunPlace& place) {
  // A copy lies elsewhere each time, and who asks is not what is asked for.
  RunPlace same = place;
  if (!place.work_copy.empty()) same.directory = "(copy)";
  same.work_copy.clear();
  same.user.clear();
  return Sha256Hex(json::serialize(JobAsked(wish, same))).substr(0, 20);
}

json::object MakeTfJob(const RunWish& wish, const RunPlace& place) {
  json::object job = JobAsked(wish, place);
  json::object& annotations = job["metadata"].as_object()["annotations"].as_object();
  if (!wish.key.empty()) annotations[kRequestDigest] = DigestOf(wish, place);
  return job;
}

namespace {

std::string StartText(const view::JobView& planned, const terminal::Screen& screen,
                      base::Instant now) {
  if (!planned.reason) return screen.Pick("now", "立即");
  std::string text = planned.reason->ShortId() + " " + planned.reason->Sentence(screen.language);
  if (planned.reason->start_latest) {
    text = fmt::format(fmt::runtime(screen.Pick("by {}; {}", "最迟 {}; {}")),
                       terminal::Moment(*planned.reason->start_latest, now), text);
  } else if (planned.reason->constraint == "never") {
    text = fmt::format(fmt::runtime(screen.Pick("never; {}", "永远不能; {}")), text);
  } else {
    text = fmt::format(fmt::runtime(screen.Pick("not now; {}", "不是现在; {}")), text);
  }
  return text;
}

}  // namespace

std::string PlanText(const RunWish& wish, const view::JobView& planned, const PlanFacts& facts,
                     const terminal::Screen& screen, base::Instant now) {
  std::string out = fmt::format(
      "{}  {} {}  {} {}", screen.Err(terminal::Tint::kBold, screen.Pick("PLAN", "计划")),
      screen.Pick("job", "作业"), planned.name, screen.Pick("queue", "队列"), planned.queue);
  out += facts.queue.empty() ? "\n" : " " + facts.queue + "\n";
  const auto fact = [&](const char* english, const char* chinese, const std::string& text) {
    if (!text.empty())
      out += "  " + terminal::Pad(screen.Pick(english, chinese), 8) + " " + terminal::Plain(text) +
             "\n";
  };
  fact("program", "程序", facts.program);
  for (const auto& [role, count] : planned.asked) {
    std::vector<std::string> each;
    if ((role == "worker" || role == "chief") && wish.gpus > 0) {
      each.push_back(
          fmt::format("{} GPU{}", wish.gpus, wish.gpu_type.empty() ? "" : " " + wish.gpu_type));
    }
    if (wish.cpu) each.push_back(*wish.cpu + " CPU");
    if (wish.memory) each.push_back(terminal::SizeText(*wish.memory));
    fact(role.c_str(), role.c_str(),
         fmt::format("{} x ({})", count,
                     each.empty() ? std::string(screen.Pick("no GPU", "无 GPU"))
                                  : terminal::Join(each, ", ")));
  }
  fact("start", "开始", StartText(planned, screen, now));
  fact("copy", "拷贝", facts.copy);
  if (wish.time) fact("limit", "时限", terminal::LongAge(*wish.time));
  fact("stop", "停止",
       fmt::format(fmt::runtime(screen.Pick("SIGTERM, {} to save, then SIGKILL",
                                            "SIGTERM, {} 用于保存, 然后 SIGKILL")),
                   terminal::LongAge(wish.grace)));
  fact("restart", "重启",
       wish.restarts == 0
           ? std::string(screen.Pick("at no failure", "失败后不重启"))
           : phrase::Fill(screen.Pick("after a failure, up to {n:time|times}", "失败后最多 {n} 次"),
                          {{"n", std::to_string(wish.restarts)}}));
  return out;
}

}  // namespace pondage::submission
