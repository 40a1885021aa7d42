// The part of NVML's binary interface that the probe uses, declared anew from its documentation.
//
// Names and layouts are NVIDIA's and stable within the version suffix of each function. Everything
// is looked up by name at run time; nothing here needs a GPU, a driver or their headers.
#pragma once

#include <cstdint>

namespace pondage::run::nvml {

using Device = void*;
using Return = int;

inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kGpuIsLost = 15;

inline constexpr unsigned kTextBytes = 96;  // for names, UUIDs and versions: enough for each
inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kUncorrectedErrors = 1;
inline constexpr unsigned kVolatileCounter = 0;  // since the driver was loaded
inline constexpr unsigned kMostLinks = 18;
inline constexpr int kEnabled = 1;

struct Memory {  // nvmlMemory_t, bytes
  unsigned long long total = 0, free = 0, used = 0;
};
struct Utilization {  // nvmlUtilization_t, percent
  unsigned gpu = 0, memory = 0;
};
struct PciInfo {  // nvmlPciInfo_t as of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16] = {};
  unsigned domain = 0, bus = 0, device = 0, device_id = 0, subsystem_id = 0;
  char bus_id[32] = {};
};
struct ProcessInfo {  // nvmlProcessInfo_t as of nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid = 0;
  unsigned long long used_memory = 0;  // all ones: unknown
  unsigned instance = 0, compute_instance = 0;
};

static_assert(sizeof(Memory) == 24 && sizeof(Utilization) == 8);
static_assert(sizeof(PciInfo) == 68 && sizeof(ProcessInfo) == 24);

}  // namespace pondage::run::nvml
