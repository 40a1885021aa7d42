#include "job/lengths.h"

#include <algorithm>
#include <optional>

#include "job/exits.h"

namespace pondage::job {

void KeepLengths(const Spec& spec, Status& status, base::Instant now, const Settings& settings) {
  const auto cap = [now](std::optional<base::Instant>& at, base::Millis length) {
    if (at) at = std::min(*at, now + std::max(length, base::Millis{0}));
  };
  const auto cap_delay = [&](std::optional<base::Instant>& at, int streak) {
    cap(at, RestartDelay(std::max(streak - 1, 0), settings));
  };
  base::Millis leaving = LongestGrace(spec);
  for (Replica& replica : status.replicas) {
    if (!replica.stop_asked) continue;
    for (std::optional<base::Instant>* const end : {&replica.kill_at, &replica.delete_by}) {
      if (!*end) continue;
      const base::Millis length = **end - *replica.stop_asked;
      leaving = std::max(leaving, length);
      cap(*end, length);
    }
  }
  for (Replica& replica : status.replicas) {
    cap(replica.kill_at, leaving);
    cap_delay(replica.restart_at, replica.streak);
    for (auto* const past : {&replica.granted, &replica.started, &replica.stop_asked})
      cap(*past, {});
  }
  cap(status.drain_deadline, leaving);
  cap_delay(status.not_before, status.streak);
  cap(status.start_time, {});
  cap(status.bound, {});
  if (status.checkpoint) status.checkpoint->at = std::min(status.checkpoint->at, now);
}

}  // namespace pondage::job
