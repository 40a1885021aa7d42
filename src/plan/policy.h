// What the planner may be told to do otherwise: every constant and every switch of it.
//
// A value. No rule of the planner looks at anything else to choose how it works, so the baselines
// of the field are settings of this one planner.
#pragma once

#include <cstdint>

#include "base/quantity.h"

namespace pondage::plan {

// How one user's own jobs of equal priority are ordered. Ties: arrival, id.
enum class Size : std::uint8_t {
  kNone,      // as they arrived
  kTime,      // shortest remaining time (SJF; with eviction SRTF)
  kGpuTime,   // least remaining GPU-time (with eviction SRSF)
  kAged,      // remaining GPU-time / (1 + wait / (10 x remaining time))
  kAttained,  // least GPU-time received so far (LAS)
  kGpus,      // fewest GPUs
};

// What those behind a gang that must wait may do.
enum class Backfill : std::uint8_t {
  kConservative,  // start where they delay no earlier one
  kPool,          // start only where no earlier one could use the room
  kLine,          // not start: the head of the line holds back all
  kFree,          // start wherever they fit
};

enum class Packing : std::uint8_t {
  kLeastLost,  // least future room lost over the typical demand
  kBestFit,    // least left over on the machine
  kFirst,      // the first machine by name
};

struct Policy {
  bool fair = true;  // queues and users by what they used; false: one line by priority and arrival
  Size size = Size::kAged;
  Backfill backfill = Backfill::kConservative;
  Packing packing = Packing::kLeastLost;

  // How much GPUs count that are left without cores or memory; the price of scarce types. Both of
  // 1000. Chosen on the openb traces, seeds 1 to 10 (docs/decisions/0020).
  std::int64_t stranding_milli = 300;
  std::int64_t scarcity_milli = 1000;

  bool sticky = true;  // reservations are kept over cycles
  bool memory = true;  // what was used before counts; false: only what is held now

  int reservations = 1000;                             // the first so many that wait get one
  base::Millis assumed_run = base::SecondsLong(3600);  // of a job of which nothing is known
  std::int64_t ageing = 10;  // a job's size halves after so many of its own lengths
  base::Millis half_life = base::SecondsLong(7 * 24 * 3600);
  // Shares are compared as they will be in so long, so that who just started comes after who did
  // not.
  base::Millis share_ahead = base::SecondsLong(60);
  // Time alone turns the order of those who wait: while one of them would fit were it not for
  // others, it is looked at again so often.
  base::Millis again = base::SecondsLong(300);

  bool operator==(const Policy&) const = default;
};

}  // namespace pondage::plan
