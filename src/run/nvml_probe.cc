#include "run/nvml_probe.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "run/nvml_abi.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

constexpr unsigned kMostGpus = 64;
constexpr unsigned kMostProcesses = 4096;
constexpr unsigned long long kUnknownBytes = ~0ULL;

base::Error NoGpus(const std::string& why) {
  return {base::Kind::kUnavailable, "PND-N001", "", why};
}

std::string CudaVersion(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// "00000000:3B:00.0" as the kernel writes it: "0000:3b:00.0".
std::string KernelBusId(std::string_view id) {
  std::string text(id);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.size() == 16 && text.starts_with("0000") ? text.substr(4) : text;
}

}  // namespace

// Each function by its versioned name; those that older drivers lack may be null.
class NvmlProbe::Library {
 public:
  static base::Result<std::unique_ptr<Library>> Open(const std::string& file) {
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return std::unexpected(
          NoGpus("the driver's library cannot be loaded: " + std::string(dlerror())));
    }
    auto library = std::unique_ptr<Library>(new Library(handle));
    if (const char* missing = library->Find()) {
      return std::unexpected(NoGpus("the driver's library has no " + std::string(missing)));
    }
    if (const auto result = library->init(); result != nvml::kSuccess) {
      return std::unexpected(
          NoGpus("the driver does not answer (code " + std::to_string(result) + ")"));
    }
    library->started_ = true;
    return library;
  }
  ~Library() {
    if (started_) shutdown();
    dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  using Device = nvml::Device;
  using Return = nvml::Return;
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*driver)(char*, unsigned) = nullptr;
  Return (*cuda)(int*) = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*by_index)(unsigned, Device*) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  Return (*uuid)(Device, char*, unsigned) = nullptr;
  Return (*memory)(Device, nvml::Memory*) = nullptr;
  Return (*pci)(Device, nvml::PciInfo*) = nullptr;
  Return (*utilization)(Device, nvml::Utilization*) = nullptr;
  Return (*temperature)(Device, unsigned, unsigned*) = nullptr;
  Return (*power)(Device, unsigned*) = nullptr;
  Return (*processes)(Device, unsigned*, nvml::ProcessInfo*) = nullptr;
  Return (*graphics)(Device, unsigned*, nvml::ProcessInfo*) = nullptr;
  Return (*ecc)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  Return (*remapped)(Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  Return (*link_state)(Device, unsigned, int*) = nullptr;
  Return (*link_remote)(Device, unsigned, nvml::PciInfo*) = nullptr;

 private:
  explicit Library(void* handle) : handle_(handle) {}

  template <class Function>
  bool Take(const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
    return function != nullptr;
  }

  // The first name that must be there and is not.
  const char* Find() {
    Take("nvmlDeviceGetUtilizationRates", utilization);
    Take("nvmlDeviceGetTemperature", temperature);
    Take("nvmlDeviceGetPowerUsage", power);
    Take("nvmlDeviceGetComputeRunningProcesses_v3", processes);
    Take("nvmlDeviceGetGraphicsRunningProcesses_v3", graphics);
    Take("nvmlDeviceGetTotalEccErrors", ecc);
    Take("nvmlDeviceGetRemappedRows", remapped);
    Take("nvmlDeviceGetNvLinkState", link_state);
    Take("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote);
    Take("nvmlSystemGetCudaDriverVersion_v2", cuda);
    if (!Take("nvmlInit_v2", init)) return "nvmlInit_v2";
    if (!Take("nvmlShutdown", shutdown)) return "nvmlShutdown";
    if (!Take("nvmlSystemGetDriverVersion", driver)) return "nvmlSystemGetDriverVersion";
    if (!Take("nvmlDeviceGetCount_v2", count)) return "nvmlDeviceGetCount_v2";
    if (!Take("nvmlDeviceGetHandleByIndex_v2", by_index)) return "nvmlDeviceGetHandleByIndex_v2";
    if (!Take("nvmlDeviceGetName", name)) return "nvmlDeviceGetName";
    if (!Take("nvmlDeviceGetUUID", uuid)) return "nvmlDeviceGetUUID";
    if (!Take("nvmlDeviceGetMemoryInfo", memory)) return "nvmlDeviceGetMemoryInfo";
    if (!Take("nvmlDeviceGetPciInfo_v3", pci)) return "nvmlDeviceGetPciInfo_v3";
    return nullptr;
  }

  void* handle_;
  bool started_ = false;
};

base::Result<std::unique_ptr<NvmlProbe>> NvmlProbe::Load(const std::string& library,
                                                         const std::string& sys) {
  TRY(auto opened, Library::Open(library));
  return std::unique_ptr<NvmlProbe>(new NvmlProbe(std::move(opened), sys));
}

NvmlProbe::NvmlProbe(std::unique_ptr<Library> library, std::string sys)
    : library_(std::move(library)), sys_(std::move(sys)) {}
NvmlProbe::~NvmlProbe() = default;

base::Result<port::GpuInventory> NvmlProbe::Read() {
  port::GpuInventory inventory;
  std::array<char, nvml::kTextBytes> text{};
  unsigned count = 0;
  if (const auto result = library_->count(&count); result != nvml::kSuccess) {
    return std::unexpected(
        NoGpus("the driver does not answer (code " + std::to_string(result) + ")"));
  }
  if (library_->driver(text.data(), text.size()) == nvml::kSuccess) inventory.driver = text.data();
  int cuda = 0;
  if (library_->cuda != nullptr && library_->cuda(&cuda) == nvml::kSuccess)
    inventory.cuda = CudaVersion(cuda);

  // One that fell off the bus may be missing from the count: it is still here, and broken.
  const auto total = std::max(std::min(count, kMostGpus), static_cast<unsigned>(known_.size()));
  std::vector<void*> devices;
  for (unsigned index = 0; index < total; ++index) {
    nvml::Device device = nullptr;
    if (index >= count || library_->by_index(index, &device) != nvml::kSuccess) device = nullptr;
    inventory.gpus.push_back(ReadOne(index, device));
    devices.push_back(device);
  }
  FindIslands(devices, inventory.gpus);
  known_ = inventory.gpus;
  return inventory;
}

port::GpuReading NvmlProbe::ReadOne(unsigned index, void* device) {
  port::GpuReading gpu;
  if (device != nullptr) ReadIdentity(device, gpu);
  if (gpu.id.empty()) {  // lost: what is still known of it is what it was
    if (index < known_.size()) gpu = known_[index];
    if (gpu.id.empty()) gpu.id = "unknown-" + std::to_string(index);
    gpu.healthy = false;
    gpu.utilisation_percent = gpu.temperature_c = gpu.power_w = -1;
    gpu.processes.clear();
    return gpu;
  }
  ReadLoad(device, gpu);
  gpu.healthy = IsHealthy(device);
  return gpu;
}

void NvmlProbe::ReadIdentity(void* device, port::GpuReading& gpu) {
  std::array<char, nvml::kTextBytes> text{};
  if (library_->uuid(device, text.data(), text.size()) != nvml::kSuccess) return;
  const std::string id = text.data();
  if (library_->name(device, text.data(), text.size()) != nvml::kSuccess) return;
  nvml::Memory memory;
  if (library_->memory(device, &memory) != nvml::kSuccess) return;
  gpu.id = id;
  gpu.type = text.data();
  gpu.memory = base::Bytes{static_cast<std::int64_t>(memory.total)};
  gpu.memory_used = base::Bytes{static_cast<std::int64_t>(memory.used)};
  nvml::PciInfo pci;
  if (library_->pci(device, &pci) != nvml::kSuccess) return;
  pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
  gpu.pci = KernelBusId(pci.bus_id);
  const std::string node =
      shim::ReadFile(sys_ + "/bus/pci/devices/" + gpu.pci + "/numa_node", 64).value_or("");
  std::from_chars(node.data(), node.data() + node.size(), gpu.numa);
}

void NvmlProbe::ReadLoad(void* device, port::GpuReading& gpu) {
  nvml::Utilization utilization;
  if (library_->utilization != nullptr &&
      library_->utilization(device, &utilization) == nvml::kSuccess) {
    gpu.utilisation_percent = static_cast<int>(utilization.gpu);
  }
  unsigned number = 0;
  if (library_->temperature != nullptr &&
      library_->temperature(device, nvml::kTemperatureGpu, &number) == nvml::kSuccess) {
    gpu.temperature_c = static_cast<int>(number);
  }
  if (library_->power != nullptr && library_->power(device, &number) == nvml::kSuccess) {
    gpu.power_w = static_cast<int>((number + 500) / 1000);
  }
  std::map<std::int64_t, std::int64_t> bytes_by_pid;  // a process may compute and draw
  for (const auto list : {library_->processes, library_->graphics}) {
    if (list == nullptr) continue;
    std::vector<nvml::ProcessInfo> found(64);
    auto filled = static_cast<unsigned>(found.size());
    auto result = list(device, &filled, found.data());
    if (result == nvml::kInsufficientSize && filled < kMostProcesses) {
      filled += 16;  // some may start while we ask again
      found.resize(filled);
      result = list(device, &filled, found.data());
    }
    if (result != nvml::kSuccess) continue;
    found.resize(std::min<std::size_t>(filled, found.size()));
    for (const nvml::ProcessInfo& one : found) {
      const bool known = one.used_memory != kUnknownBytes;
      std::int64_t& bytes = bytes_by_pid[one.pid];
      bytes = std::max(bytes, known ? static_cast<std::int64_t>(one.used_memory) : 0);
    }
  }
  for (const auto& [pid, bytes] : bytes_by_pid) gpu.processes.push_back({pid, base::Bytes{bytes}});
}

// Broken: memory errors that could not be corrected since the driver was loaded, or rows that could
// not be remapped. What a GPU does not support says nothing.
bool NvmlProbe::IsHealthy(void* device) const {
  unsigned long long errors = 0;
  if (library_->ecc != nullptr &&
      library_->ecc(device, nvml::kUncorrectedErrors, nvml::kVolatileCounter, &errors) ==
          nvml::kSuccess &&
      errors > 0) {
    return false;
  }
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  return library_->remapped == nullptr ||
         library_->remapped(device, &corrected, &uncorrected, &pending, &failed) !=
             nvml::kSuccess ||
         failed == 0;
}

// GPUs whose active links end at each other, or at the same switch, are one island.
void NvmlProbe::FindIslands(const std::vector<void*>& devices,
                            std::vector<port::GpuReading>& gpus) const {
  if (library_->link_state == nullptr || library_->link_remote == nullptr) return;
  std::map<std::string, std::size_t> by_end;  // first GPU seen at this end
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].island = static_cast<int>(i);
    by_end[gpus[i].pci] = i;
  }
  const auto island_of = [&](std::size_t i) {
    while (gpus[i].island != static_cast<int>(i)) i = static_cast<std::size_t>(gpus[i].island);
    return i;
  };
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (unsigned link = 0; devices[i] != nullptr && link < nvml::kMostLinks; ++link) {
      int active = 0;
      nvml::PciInfo remote;
      if (library_->link_state(devices[i], link, &active) != nvml::kSuccess ||
          active != nvml::kEnabled ||
          library_->link_remote(devices[i], link, &remote) != nvml::kSuccess) {
        continue;
      }
      remote.bus_id[sizeof(remote.bus_id) - 1] = '\0';
      const std::size_t other = by_end.emplace(KernelBusId(remote.bus_id), i).first->second;
      const auto [low, high] = std::minmax({island_of(i), island_of(other)});
      gpus[high].island = static_cast<int>(low);
    }
  }
  std::map<int, int> members;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].island = static_cast<int>(island_of(i));
    ++members[gpus[i].island];
  }
  for (port::GpuReading& gpu : gpus) {
    if (members[gpu.island] < 2) gpu.island = -1;
  }
}

}  // namespace pondage::run
