#include "manifest/pod_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/mount_target.h"
#include "manifest/expand.h"
#include "manifest/names.h"
#include "manifest/object.h"

namespace pondage::manifest {

namespace {

using job::FieldError;
using job::FieldErrorKind;

constexpr std::string_view kSpec = "template.spec";

std::string Quoted(std::string_view text) {
  return Shown(boost::json::value(text));
}

bool ClimbsUp(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") ||
         path.find("/../") != std::string_view::npos;
}

// Collects the errors of one template.
class Check {
 public:
  explicit Check(const PodSpec& spec) : spec_(spec) {}

  std::vector<FieldError> Run() {
    Containers();
    Volumes();
    Rest();
    return std::move(errors_);
  }

 private:
  void Add(FieldErrorKind kind, std::string path, std::string message) {
    errors_.push_back({kind, std::move(path), std::move(message)});
  }
  void Required(std::string path, std::string_view why = "") {
    Add(FieldErrorKind::kRequired, std::move(path),
        why.empty() ? "Required value" : fmt::format("Required value: {}", why));
  }
  void Invalid(std::string path, std::string_view shown, std::string_view why) {
    Add(FieldErrorKind::kInvalid, std::move(path),
        fmt::format("Invalid value: {}: {}", shown, why));
  }
  void Duplicate(std::string path, std::string_view value) {
    Add(FieldErrorKind::kDuplicate, std::move(path), "Duplicate value: " + Quoted(value));
  }

  void Containers() {
    std::set<std::string> names;
    for (std::size_t i = 0; i < spec_.containers.size(); ++i) {
      const Container& one = spec_.containers[i];
      const std::string path = fmt::format("{}.containers[{}]", kSpec, i);
      if (!one.name.empty() && !IsDns1123Label(one.name)) {
        Invalid(path + ".name", Quoted(one.name),
                "must be a DNS label: lower-case letters, digits and '-'");
      }
      if (!one.name.empty() && !names.insert(one.name).second) Duplicate(path + ".name", one.name);
      Ports(one, path);
      Env(one, path);
      Size(one, path);
      Words(one, path);
      Amounts(one, path);
      Mounts(one, path);
      if (&one == MainContainer(spec_)) Rights(one.security, path);
      if (one.name == kMainContainer && one.command.empty()) {
        Required(path + ".command",
                 "the program runs as a process, so no entrypoint of an image can stand in for it");
      }
    }
  }

  void Words(const Container& one, const std::string& path) {
    if (!one.command.empty() && one.command.front().empty()) {
      Invalid(path + ".command[0]", Quoted(""), "must name a program");
    }
    for (const auto& [words, name] : {std::pair{&one.command, "command"}, {&one.args, "args"}}) {
      for (std::size_t i = 0; i < words->size(); ++i) {
        if ((*words)[i].find('\0') == std::string::npos) continue;
        Invalid(fmt::format("{}.{}[{}]", path, name, i), Quoted((*words)[i]),
                "must not hold a zero byte");
      }
    }
    if (!one.working_dir.empty() &&
        (!one.working_dir.starts_with('/') || one.working_dir.find('\0') != std::string::npos)) {
      Invalid(path + ".workingDir", Quoted(one.working_dir), "must be an absolute path");
    }
  }

  void Ports(const Container& one, const std::string& path) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < one.ports.size(); ++i) {
      const ContainerPort& port = one.ports[i];
      const std::string at = fmt::format("{}.ports[{}]", path, i);
      if (port.number < 1 || port.number > 65535) {
        Invalid(at + ".containerPort", std::to_string(port.number),
                "must be between 1 and 65535, inclusive");
      }
      if (!port.name.empty() && !names.insert(port.name).second) Duplicate(at + ".name", port.name);
      static constexpr std::array<std::string_view, 4> kProtocols = {"", "TCP", "UDP", "SCTP"};
      if (std::ranges::find(kProtocols, port.protocol) == kProtocols.end()) {
        Add(FieldErrorKind::kNotSupported, at + ".protocol",
            fmt::format("Unsupported value: {}: supported values: \"SCTP\", \"TCP\", \"UDP\"",
                        Quoted(port.protocol)));
      }
    }
  }

  void Env(const Container& one, const std::string& path) {
    for (std::size_t i = 0; i < one.env.size(); ++i) {
      const EnvVar& variable = one.env[i];
      const std::string at = fmt::format("{}.env[{}]", path, i);
      if (variable.name.empty()) {
        Required(at + ".name");
      } else if (!IsEnvName(variable.name)) {
        Invalid(at + ".name", Quoted(variable.name),
                "must consist of printable ASCII characters other than '='");
      }
      if (variable.value.find('\0') != std::string::npos) {
        Invalid(at + ".value", Quoted(variable.value), "must not hold a zero byte");
      }
      if (!variable.from) continue;
      if (!variable.value.empty()) {
        Invalid(at + ".valueFrom", "an object", "may not be specified when `value` is not empty");
      }
      Source(*variable.from, at + ".valueFrom");
      Resource(*variable.from, one, at + ".valueFrom.resourceFieldRef");
    }
    for (std::size_t i = 0; i < one.env_from.size(); ++i) {
      const EnvSource& source = one.env_from[i].source;
      const std::string at = fmt::format("{}.envFrom[{}]", path, i);
      if (source.kind == EnvSource::Kind::kUnknown) {
        Required(at, "one of `configMapRef`, `secretRef`");
      } else if (source.name.empty()) {
        Required(at + ".name");
      }
    }
  }

  // As far as it can be told before ConfigMaps and Secrets are read: their values count as empty.
  void Size(const Container& one, const std::string& path) {
    const auto too_long = [this](std::string at) {
      Add(FieldErrorKind::kTooLong, std::move(at),
          fmt::format("Too long: may not be more than {} bytes with its $(NAME) filled in",
                      kMostWordBytes));
    };
    Variables variables;
    for (std::size_t i = 0; i < one.env.size() && variables.bytes() <= kMostProgramBytes; ++i) {
      auto value = Expand(one.env[i].value, variables);
      if (!value || one.env[i].name.size() + value->size() >= kMostWordBytes)
        return too_long(fmt::format("{}.env[{}].value", path, i));
      variables.Set(one.env[i].name, *std::move(value));
    }
    std::size_t bytes = variables.bytes();
    for (const auto& [words, name] : {std::pair{&one.command, "command"}, {&one.args, "args"}}) {
      for (std::size_t i = 0; i < words->size() && bytes <= kMostProgramBytes; ++i) {
        const auto word = Expand((*words)[i], variables);
        if (!word) return too_long(fmt::format("{}.{}[{}]", path, name, i));
        bytes += word->size() + 1;
      }
    }
    if (bytes <= kMostProgramBytes) return;
    Add(FieldErrorKind::kTooLong, path,
        fmt::format("Too long: its env, command and args may not be more than {} bytes together",
                    kMostProgramBytes));
  }

  void Source(const EnvSource& source, const std::string& path) {
    using Kind = EnvSource::Kind;
    static constexpr std::array<std::string_view, 8> kFields = {
        "metadata.name",           "metadata.namespace", "metadata.uid", "spec.nodeName",
        "spec.serviceAccountName", "status.hostIP",      "status.podIP", "status.podIPs"};
    switch (source.kind) {
      case Kind::kConfigMap:
      case Kind::kSecret:
        if (source.name.empty()) Required(path + ".name");
        if (source.key.empty()) Required(path + ".key");
        return;
      case Kind::kField: {
        const bool one_of_map =
            source.name.ends_with("']") && (source.name.starts_with("metadata.labels['") ||
                                            source.name.starts_with("metadata.annotations['"));
        if (one_of_map || std::ranges::find(kFields, source.name) != kFields.end()) return;
        Add(FieldErrorKind::kNotSupported, path + ".fieldRef.fieldPath",
            fmt::format("Unsupported value: {}: supported values: {}, metadata.labels['KEY'], "
                        "metadata.annotations['KEY']",
                        Quoted(source.name), fmt::join(kFields, ", ")));
        return;
      }
      case Kind::kResource: {
        static constexpr std::array<std::string_view, 4> kResources = {
            "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"};
        if (std::ranges::find(kResources, source.name) != kResources.end()) return;
        Add(FieldErrorKind::kNotSupported, path + ".resourceFieldRef.resource",
            fmt::format("Unsupported value: {}: supported values: {}", Quoted(source.name),
                        fmt::join(kResources, ", ")));
        return;
      }
      case Kind::kUnknown:
        Required(path, "one of `configMapKeyRef`, `secretKeyRef`, `fieldRef`, `resourceFieldRef`");
    }
  }

  // A launch has no other number to hand out for a resource that the container does not name.
  void Resource(const EnvSource& source, const Container& own, const std::string& path) {
    if (source.kind != EnvSource::Kind::kResource) return;
    const auto named = std::ranges::find(spec_.containers, source.container, &Container::name);
    const Container* of = source.container.empty()          ? &own
                          : named == spec_.containers.end() ? nullptr
                                                            : &*named;
    if (of == nullptr) {
      return Invalid(path + ".containerName", Quoted(source.container),
                     "no container has this name");
    }
    const auto dot = source.name.find('.');
    if (dot == std::string::npos) return;
    const std::string name = source.name.substr(dot + 1);
    const bool set = of->limits.contains(name) ||
                     (source.name.starts_with("requests.") && of->requests.contains(name));
    if (!set) {
      Invalid(path + ".resource", Quoted(source.name), "the container does not set this resource");
    }
  }

  // The quantity in the unit of its resource; none when it is wrong, which is then said.
  std::optional<std::int64_t> Amount(const std::string& name, const boost::json::value& quantity,
                                     const std::string& path) {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    base::Result<std::int64_t> amount = ParseWhole(quantity);
    if (name == "cpu") {
      most = kMostCpuMilli;
      const auto cpu = ParseCpu(quantity);
      if (cpu) amount = cpu->value;
    } else if (name == "memory") {
      most = kMostMemoryBytes;
    } else if (name == kGpuResource) {
      most = kMostGpus;
    }
    if (!amount) {
      Add(FieldErrorKind::kInvalid, path, amount.error().message);
      return std::nullopt;
    }
    if (*amount > most) {
      Invalid(path, Shown(quantity), "is more than any machine has");
      return std::nullopt;
    }
    const auto milli = ParseCpu(quantity);
    if (name == kGpuResource && (!milli || milli->value != *amount * 1000)) {
      Invalid(path, Shown(quantity), "must be an integer");
    }
    return *amount;
  }

  void OneList(const Resources& list, const std::string& path) {
    for (const auto& [name, quantity] : list) {
      const std::string at = fmt::format("{}[{}]", path, name);
      if (!IsKnownResource(name)) {
        Add(FieldErrorKind::kNotSupported, at,
            fmt::format("Unsupported value: {}: supported values: \"cpu\", \"memory\", "
                        "\"ephemeral-storage\", \"hugepages-*\", \"{}\"",
                        Quoted(name), kGpuResource));
        continue;
      }
      Amount(name, quantity, at);
    }
  }

  static bool IsKnownResource(std::string_view name) {
    return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
           name.starts_with("hugepages-") || name == kGpuResource;
  }

  void Amounts(const Container& one, const std::string& path) {
    const std::string limits = path + ".resources.limits";
    const std::string requests = path + ".resources.requests";
    OneList(one.limits, limits);
    OneList(one.requests, requests);
    for (const auto& [name, quantity] : one.requests) {
      const std::string at = fmt::format("{}[{}]", requests, name);
      const auto limit = one.limits.find(name);
      const bool gpu = name == kGpuResource;
      if (limit == one.limits.end()) {
        if (gpu) Required(fmt::format("{}[{}]", limits, name), "a GPU needs a limit");
        continue;
      }
      const std::int64_t asked = AmountOf(one.requests, name);
      const std::int64_t most = AmountOf(one.limits, name);
      if (gpu && asked != most) {
        Invalid(at, Shown(quantity),
                fmt::format("must be equal to {} limit of {}", name, Shown(limit->second)));
      } else if (asked > most) {
        Invalid(at, Shown(quantity),
                fmt::format("must be less than or equal to {} limit of {}", name,
                            Shown(limit->second)));
      }
    }
  }

  void Mounts(const Container& one, const std::string& path) {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < one.mounts.size(); ++i) {
      const ContainerMount& mount = one.mounts[i];
      const std::string at = fmt::format("{}.volumeMounts[{}]", path, i);
      if (std::ranges::find(spec_.volumes, mount.volume, &PodVolume::name) == spec_.volumes.end()) {
        Invalid(at + ".name", Quoted(mount.volume), "no volume has this name");
      }
      if (mount.path.empty()) {
        Required(at + ".mountPath");
      } else if (!mount.path.starts_with('/') || ClimbsUp(mount.path) ||
                 mount.path.find('\0') != std::string::npos) {
        Invalid(at + ".mountPath", Quoted(mount.path), "must be an absolute path without '..'");
      } else if (base::HidesTheSystem(mount.path)) {
        Invalid(
            at + ".mountPath", Quoted(mount.path),
            "would hide the system's own files (/, /dev, /etc, /proc, /sys, /usr, ...) from the "
            "program and from its watcher");
      } else if (!taken.insert(fmt::format("{}", fmt::join(base::PartsOf(mount.path), "/")))
                      .second) {
        Invalid(at + ".mountPath", Quoted(mount.path), "must be unique");
      }
      if (mount.sub_path.starts_with('/') || ClimbsUp(mount.sub_path) ||
          mount.sub_path.find('\0') != std::string::npos) {
        Invalid(at + ".subPath", Quoted(mount.sub_path), "must be a relative path without '..'");
      }
      if (mount.has_expression) {
        Add(FieldErrorKind::kForbidden, at + ".subPathExpr",
            "Forbidden: subPathExpr is not supported; write subPath");
      }
    }
  }

  void Volumes() {
    std::set<std::string> names;
    for (std::size_t i = 0; i < spec_.volumes.size(); ++i) {
      const PodVolume& volume = spec_.volumes[i];
      const std::string at = fmt::format("{}.volumes[{}]", kSpec, i);
      if (volume.name.empty()) {
        Required(at + ".name");
      } else if (!IsDns1123Label(volume.name)) {
        Invalid(at + ".name", Quoted(volume.name), "must be a DNS label");
      } else if (!names.insert(volume.name).second) {
        Duplicate(at + ".name", volume.name);
      }
      VolumeSource(volume, at);
    }
  }

  void EmptyDir(const PodVolume& volume, const std::string& path) {
    if (!volume.type.empty() && volume.type != "Memory" && !volume.type.starts_with("HugePages")) {
      Add(FieldErrorKind::kNotSupported, path + ".medium",
          fmt::format("Unsupported value: {}: supported values: \"\", \"Memory\"",
                      Quoted(volume.type)));
    }
    if (!volume.size_limit) return;
    if (const auto size = ParseWhole(*volume.size_limit); !size)
      Add(FieldErrorKind::kInvalid, path + ".sizeLimit", size.error().message);
  }

  void VolumeSource(const PodVolume& volume, const std::string& at) {
    using Kind = PodVolume::Kind;
    const std::string path = at + "." + volume.source;
    if (volume.source.empty()) return Required(at, "must specify a volume type");
    if (volume.sources > 1) {
      return Add(FieldErrorKind::kForbidden, at,
                 "Forbidden: may not specify more than 1 volume type");
    }
    if (volume.kind == Kind::kUnknown) {
      return Add(
          FieldErrorKind::kNotSupported, path,
          fmt::format("Unsupported value: {}: supported values: \"configMap\", \"emptyDir\", "
                      "\"hostPath\", \"persistentVolumeClaim\", \"secret\"",
                      Quoted(volume.source)));
    }
    if (volume.kind == Kind::kEmptyDir) return EmptyDir(volume, path);
    if (volume.kind == Kind::kHostPath) {
      if (!volume.path.starts_with('/') || ClimbsUp(volume.path) ||
          volume.path.find('\0') != std::string::npos) {
        Invalid(path + ".path", Quoted(volume.path), "must be an absolute path without '..'");
      }
      HostPathType(volume.type, path + ".type");
      return;
    }
    const std::string_view member = volume.kind == Kind::kSecret  ? "secretName"
                                    : volume.kind == Kind::kClaim ? "claimName"
                                                                  : "name";
    if (volume.object.empty()) {
      Required(fmt::format("{}.{}", path, member));
    } else if (!IsDns1123Subdomain(volume.object)) {
      Invalid(fmt::format("{}.{}", path, member), Quoted(volume.object),
              "must be a DNS subdomain: lower-case letters, digits, '-' and '.'");
    }
    if (volume.mode < 0 || volume.mode > 0777) {
      Invalid(path + ".defaultMode", std::to_string(volume.mode),
              "must be a number between 0 and 0777 (octal), both inclusive");
    }
    for (std::size_t k = 0; k < volume.items.size(); ++k) {
      const PodVolume::Item& item = volume.items[k];
      const std::string where = fmt::format("{}.items[{}]", path, k);
      if (item.key.empty()) Required(where + ".key");
      if (item.path.empty() || item.path.starts_with('/') || ClimbsUp(item.path)) {
        Invalid(where + ".path", Quoted(item.path), "must be a relative path without '..'");
      }
    }
  }

  void HostPathType(const std::string& type, std::string path) {
    static constexpr std::array<std::string_view, 6> kTypes = {
        "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket"};
    if (std::ranges::find(kTypes, type) != kTypes.end()) return;
    if (type == "CharDevice" || type == "BlockDevice") {
      return Add(
          FieldErrorKind::kForbidden, std::move(path),
          "Forbidden: devices are not mounted; a program finds those of the machine in /dev");
    }
    Add(FieldErrorKind::kNotSupported, std::move(path),
        fmt::format("Unsupported value: {}: supported values: \"\", \"Directory\", "
                    "\"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\"",
                    Quoted(type)));
  }

  void Rights(const Security& security, const std::string& path) {
    for (const auto& [field, why] : security.refused) {
      Add(FieldErrorKind::kForbidden, fmt::format("{}.securityContext.{}", path, field),
          "Forbidden: " + why);
    }
  }

  void Rest() {
    const std::string spec(kSpec);
    for (std::size_t i = 0; i < spec_.init_containers.size(); ++i) {
      Add(FieldErrorKind::kForbidden, fmt::format("{}.initContainers[{}]", spec, i),
          "Forbidden: init containers are not run here; do their work in the main program");
    }
    if (spec_.has_ephemeral) {
      Add(FieldErrorKind::kForbidden, spec + ".ephemeralContainers",
          "Forbidden: ephemeral containers are not run here");
    }
    if (spec_.grace_s && (*spec_.grace_s < 0 || *spec_.grace_s > kMostSeconds)) {
      Invalid(spec + ".terminationGracePeriodSeconds", std::to_string(*spec_.grace_s),
              fmt::format("must be between 0 and {}", kMostSeconds));
    }
    for (const auto& [key, value] : spec_.node_selector) {
      if (IsLabelKey(key) && IsLabelValue(value)) continue;
      Invalid(fmt::format("{}.nodeSelector[{}]", spec, key), Quoted(value), "is no label");
    }
    Rights(spec_.security, spec);
  }

  const PodSpec& spec_;
  std::vector<FieldError> errors_;
};

}  // namespace

std::vector<FieldError> CheckTemplate(const PodSpec& spec) {
  return Check(spec).Run();
}

std::vector<std::string> WarnOfTemplate(const PodSpec& spec) {
  std::vector<std::string> warnings;
  const auto warn = [&warnings](std::string path, std::string_view what) {
    warnings.push_back(fmt::format("{}: {}", path, what));
  };
  for (const std::string& field : spec.ignored) {
    warn(fmt::format("{}.{}", kSpec, field), "is not acted on here");
  }
  for (const std::string& field : spec.security.unheeded)
    warn(fmt::format("{}.securityContext.{}", kSpec, field), "is not acted on here");
  if (!spec.restart_policy.empty()) {
    warn(fmt::format("{}.restartPolicy", kSpec),
         "will be overwritten by the restart policy of the replica spec");
  }
  for (std::size_t i = 0; i < spec.containers.size(); ++i) {
    const Container& one = spec.containers[i];
    const std::string path = fmt::format("{}.containers[{}]", kSpec, i);
    if (one.name != kMainContainer) {
      warn(path, fmt::format("container \"{}\" is not run here, only \"{}\" is", one.name,
                             kMainContainer));
      continue;
    }
    for (const std::string& field : one.ignored) warn(path + "." + field, "is not acted on here");
    for (const EnvVar& variable : one.env) {
      if (variable.name == "TF_CONFIG") {
        warn(path + ".env", "TF_CONFIG is set by the pool for jobs of more than one replica");
      }
      if (variable.name == "CUDA_VISIBLE_DEVICES" && !variable.value.empty() &&
          variable.value != "-1") {
        warn(path + ".env", "CUDA_VISIBLE_DEVICES is set by the pool to the GPUs it granted");
      }
    }
  }
  for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
    const std::string source = fmt::format("{}.volumes[{}].{}", kSpec, i, spec.volumes[i].source);
    for (const std::string& field : spec.volumes[i].ignored)
      warn(source + "." + field, "is not acted on here: it is a directory on the pool's disk");
    for (const PodVolume::Item& item : spec.volumes[i].items) {
      if (!item.has_mode) continue;
      warn(source + ".items",
           fmt::format("the mode of \"{}\" is not acted on here, defaultMode is", item.path));
    }
  }
  return warnings;
}

}  // namespace pondage::manifest
