// A stand-in for libnvidia-ml.so.1: four GPUs whose state a test sets by name.
//
// Layouts are those of run/nvml_abi.h, which the probe is compiled with, too.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "run/nvml_abi.h"

namespace {

using namespace pondage::run::nvml;

struct Gpu {
  int index = 0;
};
Gpu gpus[4] = {{0}, {1}, {2}, {3}};
std::map<std::string, long>& Values() {
  static std::map<std::string, long> values;
  return values;
}
long Value(const std::string& key, long otherwise) {
  const auto found = Values().find(key);
  return found == Values().end() ? otherwise : found->second;
}
long Of(Device device, const char* key, long otherwise) {
  return Value(std::to_string(static_cast<Gpu*>(device)->index) + "." + key, otherwise);
}
Return Text(const char* text, char* out, unsigned size) {
  if (std::strlen(text) >= size) return kInsufficientSize;
  std::strcpy(out, text);
  return kSuccess;
}
bool IsLost(Device device) {
  return Of(device, "lost", 0) != 0;
}
// A switch has numbers from 100 on.
void BusId(long number, PciInfo* out) {
  std::snprintf(out->bus_id, sizeof(out->bus_id), "00000000:%02lX:00.0", number + 0x3a);
}

}  // namespace

extern "C" {

void FakeNvmlSet(const char* key, long value) {
  Values()[key] = value;
}
void FakeNvmlReset() {
  Values().clear();
}

Return nvmlInit_v2() {
  return static_cast<Return>(Value("init", kSuccess));
}
Return nvmlShutdown() {
  return kSuccess;
}
Return nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return Text("550.54.15", out, size);
}
Return nvmlSystemGetCudaDriverVersion_v2(int* out) {
  *out = 12040;
  return kSuccess;
}
Return nvmlDeviceGetCount_v2(unsigned* out) {
  *out = static_cast<unsigned>(Value("count", 4));
  return static_cast<Return>(Value("count.result", kSuccess));
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  if (index >= 4) return 2;
  *out = &gpus[index];
  return IsLost(*out) ? kGpuIsLost : kSuccess;
}
Return nvmlDeviceGetName(Device device, char* out, unsigned size) {
  return IsLost(device) ? kGpuIsLost : Text("NVIDIA A100-SXM4-80GB", out, size);
}
Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  const std::string id = "GPU-0000000" + std::to_string(static_cast<Gpu*>(device)->index);
  return IsLost(device) ? kGpuIsLost : Text(id.c_str(), out, size);
}
Return nvmlDeviceGetMemoryInfo(Device device, Memory* out) {
  out->total = 80ULL << 30;
  out->used = static_cast<unsigned long long>(Of(device, "used", 0));
  return kSuccess;
}
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  BusId(static_cast<Gpu*>(device)->index, out);
  return kSuccess;
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* out) {
  out->gpu = static_cast<unsigned>(Of(device, "utilisation", 0));
  return Of(device, "utilisation", -1) < 0 ? kNotSupported : kSuccess;
}
Return nvmlDeviceGetTemperature(Device device, unsigned sensor, unsigned* out) {
  *out = static_cast<unsigned>(Of(device, "temperature", 40));
  return sensor == kTemperatureGpu ? kSuccess : kNotSupported;
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* out) {
  *out = static_cast<unsigned>(Of(device, "milliwatt", 55'600));
  return kSuccess;
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* out) {
  const auto there = static_cast<unsigned>(Of(device, "processes", 0));
  if (*count < there) {
    *count = there;
    return kInsufficientSize;
  }
  for (unsigned i = 0; i < there; ++i) {
    out[i].pid = 1000 + i;
    out[i].used_memory = i == 0 ? ~0ULL : 1ULL << 30;
  }
  *count = there;
  return kSuccess;
}
Return nvmlDeviceGetTotalEccErrors(Device device, unsigned type, unsigned counter,
                                   unsigned long long* out) {
  if (type != kUncorrectedErrors || counter != kVolatileCounter) return kNotSupported;
  *out = static_cast<unsigned long long>(Of(device, "ecc", 0));
  return Of(device, "ecc.unsupported", 0) != 0 ? kNotSupported : kSuccess;
}
Return nvmlDeviceGetRemappedRows(Device device, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failed) {
  *corrected = 3;
  *uncorrected = 1;
  *pending = 1;
  *failed = static_cast<unsigned>(Of(device, "remap.failed", 0));
  return kSuccess;
}
// Link n of GPU g ends at `g.link.n` - 1.
Return nvmlDeviceGetNvLinkState(Device device, unsigned link, int* out) {
  *out = Of(device, ("link." + std::to_string(link)).c_str(), 0) > 0 ? 1 : 0;
  return kSuccess;
}
Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* out) {
  BusId(Of(device, ("link." + std::to_string(link)).c_str(), 0) - 1, out);
  return kSuccess;
}
}
