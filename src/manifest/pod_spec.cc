#include "manifest/pod_spec.h"

#include <algorithm>
#include <array>
#include <limits>

#include "manifest/object.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

using Limits = std::numeric_limits<std::int64_t>;

std::vector<std::string> Words(const Reader& in, std::string_view key) {
  std::vector<std::string> words;
  in.List(key, [&](const json::value& word, const std::string& path) {
    if (word.is_string()) {
      words.emplace_back(word.get_string());
    } else {
      in.trouble().Say(path, "must be a string, not " + Shown(word));
    }
  });
  return words;
}

template <std::size_t n>
std::vector<std::string> Present(const Reader& in, const std::array<const char*, n>& names) {
  std::vector<std::string> present;
  for (const char* name : names) {
    if (in.Has(name)) present.emplace_back(name);
  }
  return present;
}

EnvSource ReferenceOf(const Reader& in, EnvSource::Kind kind) {
  return {.kind = kind,
          .name = in.Text("name"),
          .key = in.Text("key"),
          .container = {},
          .divisor = {},
          .optional = in.Flag("optional")};
}

EnvSource ValueFrom(const Reader& in) {
  using Kind = EnvSource::Kind;
  if (in.Has("configMapKeyRef")) return ReferenceOf(in.Object("configMapKeyRef"), Kind::kConfigMap);
  if (in.Has("secretKeyRef")) return ReferenceOf(in.Object("secretKeyRef"), Kind::kSecret);
  EnvSource source;
  if (const Reader field = in.Object("fieldRef"); field.Present()) {
    source.kind = Kind::kField;
    source.name = field.Text("fieldPath");
  } else if (const Reader resource = in.Object("resourceFieldRef"); resource.Present()) {
    source.kind = Kind::kResource;
    source.name = resource.Text("resource");
    source.container = resource.Text("containerName");
    if (const json::value* divisor = resource.Find("divisor")) source.divisor = *divisor;
  }
  return source;
}

void DecodeEnv(const Reader& in, Container& out) {
  in.Objects("env", [&out](const Reader& variable) {
    EnvVar& env = out.env.emplace_back();
    env.name = variable.Text("name");
    env.value = variable.Text("value");
    if (const Reader from = variable.Object("valueFrom"); from.Present()) {
      env.from = ValueFrom(from);
    }
  });
  in.Objects("envFrom", [&out](const Reader& set) {
    EnvFrom& from = out.env_from.emplace_back();
    from.prefix = set.Text("prefix");
    if (set.Has("configMapRef")) {
      from.source = ReferenceOf(set.Object("configMapRef"), EnvSource::Kind::kConfigMap);
    } else if (set.Has("secretRef")) {
      from.source = ReferenceOf(set.Object("secretRef"), EnvSource::Kind::kSecret);
    }
  });
}

Resources DecodeResources(const Reader& in) {
  Resources resources;
  if (!in.Present()) return resources;
  for (const auto& [name, quantity] : *in.raw()) {
    if (!quantity.is_null()) resources.emplace(name, quantity);
  }
  return resources;
}

Container DecodeContainer(const Reader& in) {
  static constexpr std::array kIgnored = {"livenessProbe", "readinessProbe", "startupProbe",
                                          "lifecycle",     "stdin",          "tty",
                                          "volumeDevices", "resizePolicy"};
  Container out;
  out.name = in.Text("name");
  out.image = in.Text("image");
  out.working_dir = in.Text("workingDir");
  out.command = Words(in, "command");
  out.args = Words(in, "args");
  in.Objects("ports", [&out](const Reader& port) {
    out.ports.push_back(
        {.name = port.Text("name"),
         .number = port.Int("containerPort", Limits::min(), Limits::max()).value_or(0),
         .protocol = port.Text("protocol")});
  });
  DecodeEnv(in, out);
  in.Objects("volumeMounts", [&out](const Reader& mount) {
    out.mounts.push_back({.volume = mount.Text("name"),
                          .path = mount.Text("mountPath"),
                          .sub_path = mount.Text("subPath"),
                          .read_only = mount.Flag("readOnly"),
                          .has_expression = !mount.Text("subPathExpr").empty()});
  });
  const Reader resources = in.Object("resources");
  out.limits = DecodeResources(resources.Object("limits"));
  out.requests = DecodeResources(resources.Object("requests"));
  out.security = DecodeContainerSecurity(in.Object("securityContext"));
  out.ignored = Present(in, kIgnored);
  return out;
}

void DecodeItems(const Reader& in, PodVolume& out) {
  in.Objects("items", [&out](const Reader& item) {
    out.items.push_back(
        {.key = item.Text("key"), .path = item.Text("path"), .has_mode = item.Has("mode")});
  });
  out.mode = in.Int("defaultMode", Limits::min(), Limits::max()).value_or(0644);
  out.optional = in.Flag("optional");
}

PodVolume DecodeVolume(const Reader& in) {
  using Kind = PodVolume::Kind;
  PodVolume out;
  out.name = in.Text("name");
  if (in.raw() == nullptr) return out;
  for (const auto& [key, value] : *in.raw()) {
    if (key == "name" || value.is_null()) continue;
    out.source = key;
    ++out.sources;
  }
  const Reader source = in.Object(out.source);
  if (out.source == "hostPath") {
    out.kind = Kind::kHostPath;
    out.path = source.Text("path");
    out.type = source.Text("type");
  } else if (out.source == "emptyDir") {
    out.kind = Kind::kEmptyDir;  // a directory on the disk of the data directory
    out.ignored = Present(source, std::array{"medium", "sizeLimit"});
    out.type = source.Text("medium");
    if (const json::value* size = source.Find("sizeLimit")) out.size_limit = *size;
  } else if (out.source == "configMap") {
    out.kind = Kind::kConfigMap;
    out.object = source.Text("name");
    DecodeItems(source, out);
  } else if (out.source == "secret") {
    out.kind = Kind::kSecret;
    out.object = source.Text("secretName");
    DecodeItems(source, out);
  } else if (out.source == "persistentVolumeClaim") {
    out.kind = Kind::kClaim;
    out.object = source.Text("claimName");
    out.read_only = source.Flag("readOnly");
  }
  return out;
}

}  // namespace

PodSpec DecodePodSpec(const Reader& spec) {
  static constexpr std::array kIgnored = {"affinity",
                                          "topologySpreadConstraints",
                                          "tolerations",
                                          "runtimeClassName",
                                          "schedulerName",
                                          "hostAliases",
                                          "dnsConfig",
                                          "resourceClaims",
                                          "schedulingGates",
                                          "overhead",
                                          "hostPID",
                                          "hostIPC",
                                          "hostNetwork",
                                          "hostUsers",
                                          "shareProcessNamespace",
                                          "imagePullSecrets",
                                          "serviceAccountName"};
  PodSpec out;
  spec.Objects("containers", [&out](const Reader& container) {
    out.containers.push_back(DecodeContainer(container));
  });
  spec.Objects("initContainers", [&out](const Reader& container) {
    out.init_containers.push_back(container.Text("name"));
  });
  spec.Objects("ephemeralContainers", [&out](const Reader&) { out.has_ephemeral = true; });
  spec.Objects("volumes",
               [&out](const Reader& volume) { out.volumes.push_back(DecodeVolume(volume)); });
  out.node_selector = spec.Texts("nodeSelector");
  out.grace_s = spec.Int("terminationGracePeriodSeconds", Limits::min(), Limits::max());
  out.restart_policy = spec.Text("restartPolicy");
  out.priority_class = spec.Text("priorityClassName");
  out.node_name = spec.Text("nodeName");
  out.security = DecodePodSecurity(spec.Object("securityContext"));
  out.ignored = Present(spec, kIgnored);
  return out;
}

const Container* MainContainer(const PodSpec& spec) {
  if (spec.containers.empty()) return nullptr;
  const auto main = std::ranges::find(spec.containers, kMainContainer, &Container::name);
  return main == spec.containers.end() ? &spec.containers.front() : &*main;
}

std::int64_t AmountOf(const Resources& resources, std::string_view name) {
  const auto found = resources.find(std::string(name));
  if (found == resources.end()) return 0;
  if (name == "cpu") {
    const auto cpu = ParseCpu(found->second);
    return cpu ? cpu->value : 0;
  }
  return ParseWhole(found->second).value_or(0);
}

Wants WantsOf(const PodSpec& spec) {
  const auto amount = [](const Resources& first, const Resources& second, std::string_view name) {
    return AmountOf(first.contains(std::string(name)) ? first : second, name);
  };
  Wants wants;
  // Each sum is cut before the next addition, so none can leave int64.
  for (const Container& one : spec.containers) {
    wants.gpus += std::min(amount(one.limits, one.requests, kGpuResource), kMostGpus);
    wants.gpus = std::min(wants.gpus, kMostGpus);
    wants.cpu_milli += std::min(amount(one.requests, one.limits, "cpu"), kMostCpuMilli);
    wants.cpu_milli = std::min(wants.cpu_milli, kMostCpuMilli);
    wants.memory_bytes += std::min(amount(one.requests, one.limits, "memory"), kMostMemoryBytes);
    wants.memory_bytes = std::min(wants.memory_bytes, kMostMemoryBytes);
  }
  return wants;
}

}  // namespace pondage::manifest
