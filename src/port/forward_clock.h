// The server's clock, which is not set: the wall's time when it was made, and steady time since.
//
// What is waited for (a grace, a delay, a deadline) is kept as an instant. If that clock followed
// the wall's, setting the wall back would stretch all of it, and setting it on would take from
// programs the time to save. So this one:
//   set back     goes on as if nothing were; the next server begins with the wall's time
//   set on       runs a tenth faster until it has caught up: no length is cut by more than that
//   ... > 1 day  follows at once: the machine had not known the time
// Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "port/clock.h"

namespace pondage::port {

class ForwardClock : public Clock {
 public:
  using Source = std::function<std::int64_t()>;  // in microseconds

  // `steady` never goes back, is never set, and goes on while the machine sleeps.
  ForwardClock(Source wall, Source steady);

  base::Instant Now() const override;

 private:
  const Source wall_, steady_;
  mutable std::mutex mutex_;
  mutable std::int64_t now_us_, steady_us_;
};

}  // namespace pondage::port
