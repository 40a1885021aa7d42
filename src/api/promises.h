// Guarantees that cannot all be kept at once: what queues side by side are promised together is
// more than their parent is guaranteed, or than the machines have.
//
// Any thread; reads the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "port/store.h"
#include "queue/tree.h"

namespace pondage::api {

// Sentences of PND-Q030. With `changed`, a queue as it is to be: those that it has a part in.
// Empty: all can be kept, or no machine is known yet.
std::vector<std::string> BrokenPromises(const port::Store& store,
                                        const std::optional<queue::Spec>& changed = {});

}  // namespace pondage::api
