// How long what a stored status waits for may still last, whatever became of the clock.
//
// Pure.
#pragma once

#include "job/machine.h"

namespace pondage::job {

// For a status that was read back: if the clock was set back meanwhile, what is still to come is no
// further away than it was when it was set, and what was lies not ahead. Else it changes nothing.
void KeepLengths(const Spec& spec, Status& status, base::Instant now, const Settings& settings);

}  // namespace pondage::job
