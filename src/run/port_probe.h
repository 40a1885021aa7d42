// Whether TCP ports of this machine can be listened on now.
//
// Any thread. Binds and listens on all addresses as TensorFlow's own server (gRPC) does: another
// listener hinders it, connections that were closed and linger do not. It lets go at once: another
// program may still come first.
#pragma once

#include <vector>

namespace pondage::run {

// Those of `ports` that are taken.
std::vector<int> PortsTaken(const std::vector<int>& ports);

}  // namespace pondage::run
