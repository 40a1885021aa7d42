// The NVIDIA GPUs of this machine, read through the driver's management library.
//
// The library is loaded at run time and looked up by name: where it is missing there are no GPUs,
// which is no error of the build. Thread rule: port::GpuProbe's.
#pragma once

#include <memory>
#include <string>

#include "port/gpu_probe.h"

namespace pondage::run {

class NvmlProbe : public port::GpuProbe {
 public:
  // kUnavailable (PND-N001): no library, no driver, or too old a one.
  static base::Result<std::unique_ptr<NvmlProbe>> Load(
      const std::string& library = "libnvidia-ml.so.1", const std::string& sys = "/sys");
  ~NvmlProbe() override;

  // A GPU that does not answer is handed out unhealthy under its last known name. kUnavailable: the
  // driver itself does not answer.
  base::Result<port::GpuInventory> Read() override;

 private:
  class Library;
  explicit NvmlProbe(std::unique_ptr<Library> library, std::string sys);

  port::GpuReading ReadOne(unsigned index, void* device);
  void ReadIdentity(void* device, port::GpuReading& gpu);
  void ReadLoad(void* device, port::GpuReading& gpu);
  bool IsHealthy(void* device) const;
  void FindIslands(const std::vector<void*>& devices, std::vector<port::GpuReading>& gpus) const;

  std::unique_ptr<Library> library_;
  std::string sys_;
  std::vector<port::GpuReading> known_;  // of the reading before, by index
};

}  // namespace pondage::run
