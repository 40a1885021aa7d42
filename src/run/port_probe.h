// Whether TCP ports of this machine can be listened on now.
//
// Any thread. Binds and listens on all addresses without re-use, as TensorFlow's own server does,
// and lets go at once: another program may still come first.
#pragma once

#include <vector>

namespace pondage::run {

// Those of `ports` that are taken.
std::vector<int> PortsTaken(const std::vector<int>& ports);

}  // namespace pondage::run
