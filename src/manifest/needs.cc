#include "manifest/needs.h"

#include <algorithm>
#include <optional>

#include "manifest/data.h"
#include "manifest/object.h"

namespace pondage::manifest {
namespace {

using job::Need;

std::optional<Need::Kind> KindOf(EnvSource::Kind kind) {
  if (kind == EnvSource::Kind::kConfigMap) return Need::Kind::kConfigMap;
  if (kind == EnvSource::Kind::kSecret) return Need::Kind::kSecret;
  return std::nullopt;
}

std::optional<Need::Kind> KindOf(PodVolume::Kind kind) {
  if (kind == PodVolume::Kind::kConfigMap) return Need::Kind::kConfigMap;
  if (kind == PodVolume::Kind::kSecret) return Need::Kind::kSecret;
  if (kind == PodVolume::Kind::kClaim) return Need::Kind::kClaim;
  return std::nullopt;
}

void AddOf(const EnvSource& source, std::vector<Need>& needs) {
  const auto kind = KindOf(source.kind);
  if (kind && !source.optional) needs.push_back({*kind, source.name, source.key});
}

void AddOf(const PodVolume& volume, std::vector<Need>& needs) {
  const auto kind = KindOf(volume.kind);
  if (!kind || volume.optional) return;
  needs.push_back({*kind, volume.object, ""});
  for (const PodVolume::Item& item : volume.items)
    needs.push_back({*kind, volume.object, item.key});
}

}  // namespace

void AddNeeds(const PodSpec& spec, std::vector<Need>& needs) {
  const Container* const main = MainContainer(spec);
  if (main == nullptr) return;
  for (const EnvFrom& from : main->env_from) AddOf(from.source, needs);
  for (const EnvVar& variable : main->env) {
    if (variable.from) AddOf(*variable.from, needs);
  }
  for (const ContainerMount& mount : main->mounts) {
    const auto volume = std::ranges::find(spec.volumes, mount.volume, &PodVolume::name);
    if (volume != spec.volumes.end()) AddOf(*volume, needs);
  }
}

base::Result<std::vector<Need>> NeedsOfPod(std::string_view pod_bytes) {
  TRY(const boost::json::value value, ParseJson(pod_bytes));
  Trouble trouble;
  const PodSpec spec = DecodePodSpec(Reader(&value, "", trouble).Object("spec"));
  if (trouble.Any()) return trouble.Fail();
  std::vector<Need> needs;
  AddNeeds(spec, needs);
  return needs;
}

const char* StorageOf(Need::Kind kind) {
  switch (kind) {
    case Need::Kind::kClaim:
      return "persistentvolumeclaims";
    case Need::Kind::kConfigMap:
      return "configmaps";
    case Need::Kind::kSecret:
      return "secrets";
  }
  return "";
}

bool Meets(const Need& need, std::string_view body) {
  if (need.key.empty()) return true;
  const auto data = DataOfObject(body);
  return data && data->contains(need.key);
}

}  // namespace pondage::manifest
