#include "manifest/tfjob.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "manifest/annotations.h"
#include "manifest/needs.h"
#include "manifest/object.h"
#include "manifest/pod_check.h"
#include "manifest/pod_spec.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

using job::FieldError;
using job::FieldErrorKind;
using Limits = std::numeric_limits<std::int64_t>;

// The annotations of docs/decisions/0004; what is wrong in one is an error with its path.
struct Settings {
  std::optional<job::Scope> scope;
  std::optional<base::Millis> startup_timeout;
  std::optional<int> requeue_exit_code;
  bool evaluator_in_cluster = true;
  std::vector<FieldError> errors;
};

std::optional<int> ExitCode(std::string_view text) {
  int code = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), code);
  if (error != std::errc() || end != text.end() || code < 1 || code > 255) return std::nullopt;
  return code;
}

Settings ReadSettings(const std::map<std::string, std::string>& annotations) {
  Settings settings;
  const auto find = [&](std::string_view name) -> const std::string* {
    const auto found = annotations.find(std::string(name));
    return found == annotations.end() ? nullptr : &found->second;
  };
  const auto refuse = [&](std::string_view name, const std::string& value, std::string_view why) {
    settings.errors.push_back(
        {FieldErrorKind::kInvalid, fmt::format("metadata.annotations[{}]", name),
         fmt::format("Invalid value: {}: {}", Shown(json::value(value)), why)});
  };
  if (const auto* scope = find(kRestartScope)) {
    if (*scope == "gang") {
      settings.scope = job::Scope::kGang;
    } else if (*scope == "replica") {
      settings.scope = job::Scope::kReplica;
    } else {
      refuse(kRestartScope, *scope, "must be gang or replica");
    }
  }
  if (const auto* text = find(kStartupTimeout)) {
    if (const auto length = ParseDuration(*text); length && length->value > 0) {
      settings.startup_timeout = *length;
    } else {
      refuse(kStartupTimeout, *text, "must be a length of time such as 90s, 10m or 1h30m");
    }
  }
  if (const auto* text = find(kRequeueExitCode)) {
    settings.requeue_exit_code = ExitCode(*text);
    if (!settings.requeue_exit_code) refuse(kRequeueExitCode, *text, "must be from 1 to 255");
  }
  if (const auto* text = find(kEvaluatorInCluster)) {
    settings.evaluator_in_cluster = *text != "false";
    if (*text != "true" && *text != "false") {
      refuse(kEvaluatorInCluster, *text, "must be true or false");
    }
  }
  return settings;
}

Reader RolesOf(const Reader& root) {
  return root.Object("spec").Object("tfReplicaSpecs");
}

job::DraftRole DraftRoleOf(const Reader& role, std::string_view spelled, const json::value& value) {
  job::DraftRole draft;
  draft.spelled = spelled;
  draft.is_null = value.is_null();
  if (draft.is_null) return draft;
  draft.replicas = role.Int32("replicas");
  draft.restart_policy = role.Text("restartPolicy");
  const Reader spec = role.Object("template").Object("spec");
  const PodSpec pod = DecodePodSpec(spec);
  for (const Container& one : pod.containers) draft.containers.push_back({one.name, one.image});
  draft.template_errors = CheckTemplate(pod);
  return draft;
}

template <class Int>
std::optional<std::int64_t> Widen(std::optional<Int> number) {
  if (!number) return std::nullopt;
  return *number;
}

base::Millis Seconds(std::int64_t seconds) {
  return base::SecondsLong(std::clamp<std::int64_t>(seconds, 0, kMostSeconds));
}

template <class Enum>
Enum WordAt(const Reader& in, std::string_view key,
            std::initializer_list<std::pair<std::string_view, Enum>> words, Enum otherwise) {
  const std::string word = in.Text(key);
  if (word.empty()) return otherwise;
  for (const auto& [known, value] : words) {
    if (word == known) return value;
  }
  in.trouble().Say(in.PathOf(key), fmt::format("\"{}\" is unknown", word));
  return otherwise;
}

int PortOf(const Container* main) {
  if (main == nullptr) return kDefaultPort;
  const auto port = std::ranges::find(main->ports, kPortName, &ContainerPort::name);
  if (port == main->ports.end()) return kDefaultPort;
  return static_cast<int>(std::clamp<std::int64_t>(port->number, 1, 65535));
}

job::ReplicaSpec DecodeRole(const Reader& in, const std::string& gpu_type,
                            std::vector<job::Need>& needs) {
  using Policy = job::RestartPolicy;
  job::ReplicaSpec out;
  out.replicas = static_cast<int>(in.Int("replicas", 0, kMostReplicas).value_or(1));
  out.restart = WordAt<Policy>(in, "restartPolicy",
                               {{"Never", Policy::kNever},
                                {"OnFailure", Policy::kOnFailure},
                                {"Always", Policy::kAlways},
                                {"ExitCode", Policy::kExitCode}},
                               Policy::kNever);
  const Reader pod = in.Object("template");
  const PodSpec spec = DecodePodSpec(pod.Object("spec"));
  const Container* main = MainContainer(spec);
  out.port = PortOf(main);
  const Wants wants = WantsOf(spec);
  out.demand = {.gpus = static_cast<int>(wants.gpus),
                .gpu_type = gpu_type,
                .cpu = {wants.cpu_milli},
                .memory = {wants.memory_bytes},
                .node_selector = spec.node_selector};
  if (spec.grace_s) out.grace = Seconds(*spec.grace_s);
  if (main != nullptr) out.image = main->image;
  if (out.replicas > 0) AddNeeds(spec, needs);
  out.template_json = pod.raw() == nullptr ? "{}" : json::serialize(*pod.raw());
  return out;
}

void DecodeRunPolicy(const Reader& in, job::Spec& out) {
  using Clean = job::CleanPodPolicy;
  out.clean_pods = WordAt<Clean>(
      in, "cleanPodPolicy",
      {{"None", Clean::kNone}, {"Running", Clean::kRunning}, {"All", Clean::kAll}}, Clean::kNone);
  if (const auto ttl = in.Int32("ttlSecondsAfterFinished")) out.ttl = Seconds(*ttl);
  if (const auto deadline = in.Int("activeDeadlineSeconds", Limits::min(), Limits::max())) {
    out.deadline = Seconds(*deadline);
  }
  out.backoff_limit = in.Int32("backoffLimit");
  out.suspend = in.Flag("suspend");
  const auto manager = in.MaybeText("managedBy");
  out.managed_elsewhere = manager && *manager != "kubeflow.org/training-operator";
  out.min_available = in.Object("schedulingPolicy").Int32("minAvailable");
}

std::string QueueIn(const Reader& root) {
  const Reader policy = root.Object("spec").Object("runPolicy").Object("schedulingPolicy");
  const auto labels = root.Object("metadata").Texts("labels");
  const auto label = labels.find(std::string(kQueueLabel));
  if (const std::string named = policy.Text("queue"); !named.empty()) {
    return named;
  }
  return label != labels.end() && !label->second.empty() ? label->second : job::Spec().queue;
}

// schedulingPolicy.priorityClass, else the highest priorityClassName of the templates.
int PriorityIn(const Reader& root, const PriorityOf& priority_of) {
  const Reader spec = root.Object("spec");
  const std::string named =
      spec.Object("runPolicy").Object("schedulingPolicy").Text("priorityClass");
  if (!named.empty()) return priority_of(named);
  std::optional<int> highest;
  const Reader roles = spec.Object("tfReplicaSpecs");
  if (roles.Present()) {
    for (const auto& role : *roles.raw()) {
      const std::string its =
          roles.Object(role.key()).Object("template").Object("spec").Text("priorityClassName");
      if (!its.empty()) highest = std::max(highest.value_or(priority_of(its)), priority_of(its));
    }
  }
  return highest ? *highest : priority_of("");
}

job::Spec DecodeSpec(const Reader& root, const PriorityOf& priority_of) {
  job::Spec out;
  const Reader spec = root.Object("spec");
  const auto annotations = root.Object("metadata").Texts("annotations");
  const auto annotation = [&annotations](std::string_view name) {
    const auto found = annotations.find(std::string(name));
    return found == annotations.end() ? std::string() : found->second;
  };
  const Reader roles = RolesOf(root);
  if (roles.Present()) {
    for (const auto& member : *roles.raw()) {
      const std::string key(member.key());
      const auto role = job::RoleFromName(key);
      if (!role) {
        root.trouble().Say(roles.PathOf(key), "is no replica type");
        continue;
      }
      job::ReplicaSpec replicas = DecodeRole(roles.Object(key), annotation(kGpuType), out.needs);
      if (replicas.replicas > 0) out.roles.insert_or_assign(*role, std::move(replicas));
    }
  }
  std::ranges::sort(out.needs);
  out.needs.erase(std::ranges::unique(out.needs).begin(), out.needs.end());
  out.dynamic_worker = spec.Flag("enableDynamicWorker");
  out.success = WordAt<job::SuccessPolicy>(spec, "successPolicy",
                                           {{"AllWorkers", job::SuccessPolicy::kAllWorkers}},
                                           job::SuccessPolicy::kDefault);
  DecodeRunPolicy(spec.Object("runPolicy"), out);
  out.queue = QueueIn(root);
  out.priority = PriorityIn(root, priority_of);
  Settings settings = ReadSettings(annotations);
  out.scope = settings.scope;
  out.startup_timeout = settings.startup_timeout;
  out.checkpoint_dir = annotation(kCheckpointDir);
  out.requeue_exit_code = settings.requeue_exit_code;
  out.evaluator_in_cluster = settings.evaluator_in_cluster;
  out.user = annotation(kUser);
  return out;
}

job::Identity DecodeIdentity(const Reader& metadata) {
  job::Identity out;
  out.space = metadata.Text("namespace");
  out.name = metadata.Text("name");
  out.uid = metadata.Text("uid");
  if (const auto created = metadata.MaybeText("creationTimestamp")) {
    const auto at = ParseTime(*created);
    if (at) {
      out.created = *at;
    } else {
      metadata.trouble().Say(metadata.PathOf("creationTimestamp"), at.error().message);
    }
  }
  return out;
}

}  // namespace

base::Result<job::Draft> DraftOf(const json::object& tfjob) {
  Trouble trouble;
  const Reader root(tfjob, "", trouble);
  const Reader metadata = root.Object("metadata");
  const Reader spec = root.Object("spec");
  const Reader policy = spec.Object("runPolicy");
  const Reader scheduling = policy.Object("schedulingPolicy");
  job::Draft draft;
  draft.name = metadata.Text("name");
  draft.has_roles = spec.Has("tfReplicaSpecs");
  const Reader roles = spec.Object("tfReplicaSpecs");
  if (roles.Present()) {
    for (const auto& [key, value] : *roles.raw()) {
      draft.roles.push_back(DraftRoleOf(roles.Object(key), key, value));
    }
  }
  draft.dynamic_worker = spec.Flag("enableDynamicWorker");
  draft.success_policy = spec.Text("successPolicy");
  draft.clean_pod_policy = policy.Text("cleanPodPolicy");
  draft.managed_by = policy.MaybeText("managedBy");
  draft.ttl_s = Widen(policy.Int32("ttlSecondsAfterFinished"));
  draft.deadline_s = policy.Int("activeDeadlineSeconds", Limits::min(), Limits::max());
  draft.backoff_limit = Widen(policy.Int32("backoffLimit"));
  policy.Flag("suspend");
  draft.min_available = Widen(scheduling.Int32("minAvailable"));
  draft.queue = QueueIn(root);
  scheduling.Text("priorityClass");
  metadata.Texts("labels");
  draft.annotation_errors = ReadSettings(metadata.Texts("annotations")).errors;
  if (trouble.Any()) return trouble.Fail();
  return draft;
}

std::vector<std::string> Warnings(const json::object& tfjob) {
  Trouble ignored;  // wrong types are DraftOf's to tell
  const Reader root(tfjob, "", ignored);
  std::vector<std::string> warnings;
  const Reader roles = RolesOf(root);
  if (!roles.Present()) return warnings;
  for (const auto& member : *roles.raw()) {
    const Reader role = roles.Object(member.key());
    const PodSpec pod = DecodePodSpec(role.Object("template").Object("spec"));
    for (const std::string& warning : WarnOfTemplate(pod)) {
      warnings.push_back(
          fmt::format("spec.tfReplicaSpecs[{}].{}", std::string_view(member.key()), warning));
    }
  }
  return warnings;
}

std::vector<RoleAsk> RoleAsks(const json::object& tfjob) {
  Trouble ignored;  // wrong types are DraftOf's to tell
  const Reader root(tfjob, "", ignored);
  std::vector<RoleAsk> asks;
  const Reader roles = RolesOf(root);
  if (!roles.Present()) return asks;
  for (const auto& member : *roles.raw()) {
    const std::string_view role = member.key();
    const PodSpec pod = DecodePodSpec(roles.Object(role).Object("template").Object("spec"));
    const Container* const main = MainContainer(pod);
    if (main == nullptr) continue;
    RoleAsk& ask = asks.emplace_back();
    ask.path = fmt::format("spec.tfReplicaSpecs[{}].template.spec", role);
    ask.account = Merge(pod.security, main->security);
    const auto container = main - pod.containers.data();
    for (std::size_t i = 0; i < main->mounts.size(); ++i) {
      const ContainerMount& mount = main->mounts[i];
      const auto volume = std::ranges::find(pod.volumes, mount.volume, &PodVolume::name);
      ask.mounts.push_back(
          {.path = fmt::format("{}.containers[{}].volumeMounts[{}]", ask.path, container, i),
           .target = mount.path,
           .host_path = volume == pod.volumes.end() ? "" : volume->path});
      if (!ask.mounts.back().host_path.empty() && !mount.sub_path.empty())
        ask.mounts.back().host_path += "/" + mount.sub_path;
    }
  }
  return asks;
}

void Canonicalise(json::object& tfjob) {
  json::value* spec = tfjob.if_contains("spec");
  if (spec == nullptr || !spec->is_object()) return;
  json::object& members = spec->get_object();
  if (json::value* roles = members.if_contains("tfReplicaSpecs"); roles && roles->is_object()) {
    // A type that is spelled twice stays so, for validation to refuse: neither may be lost here.
    const json::object& spelled = roles->get_object();
    json::object renamed;
    for (const auto& [key, value] : spelled) {
      const auto role = job::RoleFromName(key);
      const json::string_view name = role ? json::string_view(job::RoleName(*role)) : key;
      renamed[spelled.contains(name) || renamed.contains(name) ? json::string_view(key) : name] =
          value;
    }
    *roles = std::move(renamed);
  }
  // The default that Kubeflow's schema stores; it reaches no further than an object that is there.
  if (json::value* policy = members.if_contains("runPolicy"); policy && policy->is_object()) {
    json::value& suspend = policy->get_object()["suspend"];
    if (suspend.is_null()) suspend = false;
  }
}

base::Result<TfJob> DecodeTfJob(std::string_view bytes, const PriorityOf& priority_of) {
  TRY(const json::value value, ParseJson(bytes));
  Trouble trouble;
  const Reader root(&value, "", trouble);
  if (trouble.Any()) return trouble.Fail();
  TfJob out;
  const Reader metadata = root.Object("metadata");
  out.identity = DecodeIdentity(metadata);
  out.spec = DecodeSpec(root, priority_of);
  out.removed = metadata.Has("deletionTimestamp");
  if (const Reader status = root.Object("status"); status.Present()) {
    TRY(out.status, DecodeStatus(*status.raw()));
  }
  if (trouble.Any()) return trouble.Fail();
  return out;
}

}  // namespace pondage::manifest
