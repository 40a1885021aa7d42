// The port to time. Real: forward_clock.h. In memory: set by the test or the simulator.
#pragma once

#include <cstdint>
#include <string>

#include "base/instant.h"

namespace pondage::port {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual base::Instant Now() const = 0;
};

class ManualClock : public Clock {
 public:
  base::Instant Now() const override { return now_; }
  void Set(base::Instant now) { now_ = now; }

 private:
  base::Instant now_{0};
};

}  // namespace pondage::port
