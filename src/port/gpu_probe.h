// The port to this machine's GPUs. Faces: run::NvmlProbe (NVML by dlopen), run::VirtualProbe
// (declared by flag), test fakes. Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace pondage::port {

struct GpuProcess {
  std::int64_t pid = 0;
  base::Bytes memory;
};

struct GpuReading {
  std::string id;  // UUID, or "virtual-0"
  std::string type;
  base::Bytes memory;
  base::Bytes memory_used;
  std::string pci;
  int numa = -1;
  int island = -1;  // same number: joined by NVLink
  int utilisation_percent = -1;
  int temperature_c = -1;
  int power_w = -1;
  bool is_virtual = false;
  bool healthy = true;
  std::vector<GpuProcess> processes;
};

struct GpuInventory {
  std::string driver;  // "550.54.15"; empty: none
  std::string cuda;    // highest CUDA the driver serves, "12.4"
  std::vector<GpuReading> gpus;
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  virtual base::Result<GpuInventory> Read() = 0;
};

}  // namespace pondage::port
