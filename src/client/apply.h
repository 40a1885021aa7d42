// Making an object of the server what a manifest says, as `kubectl apply` does.
//
// The thread rule is the client's.
#pragma once

#include <string>

#include "base/result.h"
#include "client/client.h"
#include "client/json.h"

namespace pondage::client {

// What was last applied, so that a field taken out of the file is taken out of the object, too. The
// name is kubectl's: both can work on the same object in turn.
inline constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

struct Applied {
  std::string what;  // "tfjob/mnist"
  const char* did;   // "created", "changed", "unchanged"
};
// `space` is for an object that names no namespace.
base::Result<Applied> ApplyObject(Client& client, json::object object, const std::string& space,
                                  bool dry_run);

}  // namespace pondage::client
