// GPUs that are declared, not found: `N[:TYPE[:MEMORY]]`, for trying the pool without a device.
//
// Marked as virtual wherever they are shown. Thread rule: port::GpuProbe's.
#pragma once

#include <string_view>

#include "port/gpu_probe.h"

namespace pondage::run {

class VirtualProbe : public port::GpuProbe {
 public:
  // "2", "4:H100", "8:A100:80Gi". kInvalid: what is wrong with it.
  static base::Result<VirtualProbe> Declare(std::string_view text);

  base::Result<port::GpuInventory> Read() override { return inventory_; }

 private:
  port::GpuInventory inventory_;
};

}  // namespace pondage::run
