#include <fmt/format.h>

#include <algorithm>

#include "manifest/expand.h"
#include "manifest/names.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/pod_spec.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

std::unexpected<base::Error> Refuse(std::string why) {
  return base::Fail(base::Kind::kInvalid, kProgramId, "", std::move(why));
}

std::unexpected<base::Error> TooLong(const std::string& what) {
  return Refuse(fmt::format("{} would be longer than the {} bytes that Linux takes as one", what,
                            kMostWordBytes));
}

std::unexpected<base::Error> TooMuch() {
  return Refuse(fmt::format(
      "its variables and arguments together are longer than the {} bytes that Linux takes",
      kMostProgramBytes));
}

// What the variables and volumes of one Pod refer to.
class Pod {
 public:
  Pod(const Reader& root, const PodSpec& spec, const DataOf& read)
      : metadata_(root.Object("metadata")),
        status_(root.Object("status")),
        spec_(spec),
        read_(read),
        labels_(metadata_.Texts("labels")),
        annotations_(metadata_.Texts("annotations")) {}

  base::Result<Variables> EnvironmentOf(const Container& container) const;
  base::Result<std::vector<PodProgram::VolumeMount>> MountsOf(const Container& container) const;

 private:
  using Data = std::map<std::string, std::string>;

  base::Result<std::optional<Data>> DataFor(EnvSource::Kind kind, const std::string& name,
                                            bool optional) const;
  base::Result<std::optional<std::string>> ValueOf(const EnvSource& source,
                                                   const Container& container) const;
  base::Result<std::string> FieldOf(std::string_view path) const;
  base::Result<std::string> ResourceOf(const EnvSource& source, const Container& container) const;
  base::Result<PodProgram::VolumeMount> MountOf(const PodVolume& volume) const;

  Reader metadata_;
  Reader status_;
  const PodSpec& spec_;
  const DataOf& read_;
  Data labels_, annotations_;
};

const char* StorageOf(EnvSource::Kind kind) {
  return kind == EnvSource::Kind::kSecret ? "secrets" : "configmaps";
}

base::Result<std::optional<Pod::Data>> Pod::DataFor(EnvSource::Kind kind, const std::string& name,
                                                    bool optional) const {
  auto data = read_(StorageOf(kind), name);
  if (!data && !optional) {
    return base::Fail(base::Kind::kNotFound, kReferenceId,
                      fmt::format("{}/{}", StorageOf(kind), name),
                      fmt::format("{} \"{}\" not found",
                                  kind == EnvSource::Kind::kSecret ? "secret" : "configmap", name));
  }
  return data;
}

base::Result<std::string> Pod::FieldOf(std::string_view path) const {
  const auto one_of = [&](std::string_view map, const Data& values) -> std::optional<std::string> {
    if (!path.starts_with(map) || !path.ends_with("']") || path.size() < map.size() + 2) {
      return std::nullopt;
    }
    const auto found =
        values.find(std::string(path.substr(map.size(), path.size() - map.size() - 2)));
    return found == values.end() ? "" : found->second;
  };
  if (const auto label = one_of("metadata.labels['", labels_)) return *label;
  if (const auto annotation = one_of("metadata.annotations['", annotations_)) return *annotation;
  if (path == "metadata.name") return metadata_.Text("name");
  if (path == "metadata.namespace") return metadata_.Text("namespace");
  if (path == "metadata.uid") return metadata_.Text("uid");
  if (path == "spec.nodeName") return spec_.node_name;
  if (path == "spec.serviceAccountName") return std::string("default");
  if (path == "status.hostIP" || path == "status.podIP" || path == "status.podIPs") {
    // Written with the first status, which comes after the launch: on one machine it is loopback.
    const std::string written = status_.Text(path == "status.hostIP" ? "hostIP" : "podIP");
    return written.empty() ? std::string("127.0.0.1") : written;
  }
  return Refuse(fmt::format("fieldPath \"{}\" is not supported", path));
}

base::Result<std::string> Pod::ResourceOf(const EnvSource& source,
                                          const Container& container) const {
  const Container* of = &container;
  if (!source.container.empty()) {
    const auto named = std::ranges::find(spec_.containers, source.container, &Container::name);
    if (named == spec_.containers.end()) {
      return Refuse(
          fmt::format("resourceFieldRef: no container is named \"{}\"", source.container));
    }
    of = &*named;
  }
  const bool limit = source.name.starts_with("limits.");
  const std::string name = source.name.substr(source.name.find('.') + 1);
  const Resources& first = limit ? of->limits : of->requests;
  const Resources& list = first.contains(name) ? first : of->limits;
  if (!list.contains(name)) {
    return Refuse(
        fmt::format("resourceFieldRef: container \"{}\" has no {}", of->name, source.name));
  }
  const Resources divisors = {{name, source.divisor}};
  std::int64_t divisor = source.divisor.is_null() ? 0 : AmountOf(divisors, name);
  if (divisor == 0) divisor = name == "cpu" ? 1000 : 1;
  const std::int64_t amount = AmountOf(list, name);
  return std::to_string(amount / divisor + (amount % divisor == 0 ? 0 : 1));
}

base::Result<std::optional<std::string>> Pod::ValueOf(const EnvSource& source,
                                                      const Container& container) const {
  switch (source.kind) {
    case EnvSource::Kind::kField: {
      TRY(std::string value, FieldOf(source.name));
      return value;
    }
    case EnvSource::Kind::kResource: {
      TRY(std::string value, ResourceOf(source, container));
      return value;
    }
    case EnvSource::Kind::kConfigMap:
    case EnvSource::Kind::kSecret: {
      TRY(const auto data, DataFor(source.kind, source.name, source.optional));
      if (!data) return std::nullopt;
      const auto found = data->find(source.key);
      if (found != data->end()) return found->second;
      if (source.optional) return std::nullopt;
      return base::Fail(base::Kind::kNotFound, kReferenceId,
                        fmt::format("{}/{}", StorageOf(source.kind), source.name),
                        fmt::format("key \"{}\" not found", source.key));
    }
    case EnvSource::Kind::kUnknown:
      break;
  }
  return Refuse("valueFrom names no source that is supported");
}

base::Result<Variables> Pod::EnvironmentOf(const Container& container) const {
  Variables variables;
  for (const EnvFrom& from : container.env_from) {
    TRY(const auto data, DataFor(from.source.kind, from.source.name, from.source.optional));
    if (!data) continue;
    for (const auto& [key, value] : *data) {
      // A key that can be no variable is skipped, as a kubelet does.
      if (IsEnvName(from.prefix + key)) variables.Set(from.prefix + key, value);
    }
  }
  for (const EnvVar& variable : container.env) {
    if (!variable.from) {
      auto value = Expand(variable.value, variables);
      if (!value) return TooLong("variable " + variable.name);
      variables.Set(variable.name, *std::move(value));
      if (variables.bytes() > kMostProgramBytes) return TooMuch();
      continue;
    }
    TRY(auto value, ValueOf(*variable.from, container));
    if (value) variables.Set(variable.name, *std::move(value));
  }
  for (const auto& [name, value] : variables.list()) {
    if (name.size() + value.size() >= kMostWordBytes) return TooLong("variable " + name);
    if (value.find('\0') != std::string::npos) {
      return Refuse(fmt::format("variable {} holds a zero byte", name));
    }
  }
  return variables;
}

base::Result<PodProgram::VolumeMount> Pod::MountOf(const PodVolume& volume) const {
  using Source = PodProgram::VolumeMount::Source;
  PodProgram::VolumeMount mount{.source = Source::kEmptyDir,
                                .name = volume.object.empty() ? volume.name : volume.object,
                                .host_path = volume.path,
                                .host_type = volume.type,
                                .sub_path = {},
                                .target = {},
                                .read_only = volume.read_only,
                                .mode = static_cast<int>(volume.mode),
                                .items = {}};
  switch (volume.kind) {
    case PodVolume::Kind::kHostPath:
      mount.source = Source::kHostPath;
      return mount;
    case PodVolume::Kind::kEmptyDir:
      return mount;
    case PodVolume::Kind::kClaim:
      mount.source = Source::kClaim;
      return mount;
    case PodVolume::Kind::kUnknown:
      return Refuse(fmt::format("volume \"{}\": {} is not supported", volume.name,
                                volume.source.empty() ? "no type" : volume.source));
    case PodVolume::Kind::kConfigMap:
    case PodVolume::Kind::kSecret:
      break;
  }
  const bool secret = volume.kind == PodVolume::Kind::kSecret;
  const auto kind = secret ? EnvSource::Kind::kSecret : EnvSource::Kind::kConfigMap;
  TRY(const auto data, DataFor(kind, volume.object, volume.optional));
  if (!data) {  // optional and missing: an empty directory
    mount.name = volume.name;
    return mount;
  }
  mount.source = secret ? Source::kSecret : Source::kConfigMap;
  mount.read_only = true;
  for (const PodVolume::Item& item : volume.items) {
    if (data->contains(item.key)) {
      mount.items.emplace_back(item.key, item.path);
    } else if (!volume.optional) {
      return base::Fail(base::Kind::kNotFound, kReferenceId,
                        fmt::format("{}/{}", StorageOf(kind), volume.object),
                        fmt::format("key \"{}\" not found", item.key));
    }
  }
  if (mount.items.empty() && !volume.items.empty()) {  // none of its optional keys is there
    mount.source = Source::kEmptyDir;
    mount.name = volume.name;
  }
  return mount;
}

base::Result<std::vector<PodProgram::VolumeMount>> Pod::MountsOf(const Container& container) const {
  std::vector<PodProgram::VolumeMount> mounts;
  for (const ContainerMount& wanted : container.mounts) {
    const auto volume = std::ranges::find(spec_.volumes, wanted.volume, &PodVolume::name);
    if (volume == spec_.volumes.end()) {
      return Refuse(fmt::format("volumeMounts: no volume is named \"{}\"", wanted.volume));
    }
    TRY(auto mount, MountOf(*volume));
    mount.target = wanted.path;
    mount.sub_path = wanted.sub_path;
    mount.read_only = mount.read_only || wanted.read_only;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

base::Result<std::vector<std::string>> WordsOf(const Container& main, const Variables& variables) {
  std::vector<std::string> words;
  std::size_t bytes = variables.bytes();
  for (const std::vector<std::string>* part : {&main.command, &main.args}) {
    for (const std::string& text : *part) {
      auto word = Expand(text, variables);
      if (!word) return TooLong("an argument");
      if (word->find('\0') != std::string::npos) return Refuse("an argument holds a zero byte");
      bytes += word->size() + 1;
      if (bytes > kMostProgramBytes) return TooMuch();
      words.push_back(*std::move(word));
    }
  }
  return words;
}

}  // namespace

base::Result<PodProgram> ProgramOf(std::string_view pod_bytes, const DataOf& read) {
  TRY(const json::value value, ParseJson(pod_bytes));
  Trouble trouble;
  const Reader root(&value, "", trouble);
  const PodSpec spec = DecodePodSpec(root.Object("spec"));
  const Container* main = MainContainer(spec);
  const Pod pod(root, spec, read);
  if (trouble.Any()) return trouble.Fail();
  if (main == nullptr) return Refuse("the Pod has no containers");
  if (main->command.empty()) {
    return Refuse(fmt::format("container \"{}\" has no command", main->name));
  }
  PodProgram out;
  out.main_container = main->name;
  out.image = main->image;
  TRY(const Variables variables, pod.EnvironmentOf(*main));
  out.env = variables.list();
  TRY(out.mounts, pod.MountsOf(*main));
  TRY(out.argv, WordsOf(*main, variables));
  out.working_dir = main->working_dir;
  if (spec.grace_s)
    out.grace = base::SecondsLong(std::clamp<std::int64_t>(*spec.grace_s, 0, kMostSeconds));
  out.memory_limit = {AmountOf(main->limits, "memory")};
  out.cpu_limit = {AmountOf(main->limits, "cpu")};
  out.account = Merge(spec.security, main->security);
  return out;
}

}  // namespace pondage::manifest
