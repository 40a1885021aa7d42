#include "manifest/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "manifest/object.h"

namespace pondage::manifest {

namespace {

// The devices behind a grant, by the driver's names.
struct Devices {
  std::vector<std::string> ids;
  bool real = false;  // all of them have a device
};

Devices DevicesOf(const job::Replica& replica, const fleet::Node* node) {
  Devices devices;
  if (!replica.grant || node == nullptr) return devices;
  devices.real = !replica.grant->gpus.empty();
  for (const int index : replica.grant->gpus) {
    if (index < 0 || static_cast<std::size_t>(index) >= node->gpus.size()) continue;
    const fleet::Gpu& gpu = node->gpus[static_cast<std::size_t>(index)];
    devices.ids.push_back(gpu.id);
    devices.real = devices.real && !gpu.is_virtual;
  }
  return devices;
}

// Whether the author hides every device from the program, which takes nothing from anybody.
bool HidesAll(const EnvVar& variable) {
  return !variable.from && (variable.value.empty() || variable.value == "-1");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PoolEnvironment(
    const job::Identity& identity, const job::Spec& spec, const job::Status& status,
    const job::Replica& replica, const Container* main, const fleet::Node* node) {
  std::vector<std::pair<std::string, std::string>> env;
  const auto authors = [main](std::string_view name) -> const EnvVar* {
    if (main == nullptr) return nullptr;
    const auto found = std::ranges::find(main->env, name, &EnvVar::name);
    return found == main->env.end() ? nullptr : &*found;
  };
  const auto offer = [&](std::string name, std::string value) {
    if (authors(name) == nullptr) env.emplace_back(std::move(name), std::move(value));
  };
  const auto set = [&](std::string name, std::string value) {
    env.emplace_back(std::move(name), std::move(value));
  };

  offer("PYTHONUNBUFFERED", "1");
  offer("TF_CPP_MIN_LOG_LEVEL", "1");
  // TensorFlow asks a cloud's metadata server at start; here there is none to wait for.
  offer("GCE_METADATA_IP", "127.0.0.1:9");
  // Without it a lost ps makes calls wait where they should fail.
  if (spec.Has(job::Role::kPs)) offer("GRPC_FAIL_FAST", "use_caller");
  if (main != nullptr && main->limits.contains("cpu")) {
    const std::int64_t cores =
        std::max<std::int64_t>(1, (AmountOf(main->limits, "cpu") + 999) / 1000);
    for (const char* name :
         {"OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"}) {
      offer(name, std::to_string(cores));
    }
  }
  if (!spec.checkpoint_dir.empty()) offer("PONDAGE_CHECKPOINT_DIR", spec.checkpoint_dir);

  const Devices devices = DevicesOf(replica, node);
  offer("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  const EnvVar* hidden = authors("CUDA_VISIBLE_DEVICES");
  if (hidden == nullptr || !HidesAll(*hidden)) {
    set("CUDA_VISIBLE_DEVICES", devices.real ? fmt::format("{}", fmt::join(devices.ids, ",")) : "");
  }
  set("PONDAGE_GPUS", fmt::format("{}", fmt::join(devices.ids, ",")));
  set("PONDAGE_NAMESPACE", identity.space);
  set("PONDAGE_JOB", identity.name);
  set("PONDAGE_REPLICA", fmt::format("{}-{}", job::RoleLabel(replica.role), replica.index));
  set("PONDAGE_ATTEMPT", std::to_string(status.attempt));
  return env;
}

}  // namespace pondage::manifest
