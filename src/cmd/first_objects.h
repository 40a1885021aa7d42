// The objects that every pool has from its first start on: namespaces, the default queue, the
// custom resources' definitions.
//
// Called once at start, before the loop runs: the one other writer there ever is.
#pragma once

#include "base/instant.h"
#include "base/result.h"
#include "port/store.h"

namespace pondage::cmd {

// Stores those that are missing, in one commit.
base::Result<void> StoreFirstObjects(port::Store& store, base::Instant now);

}  // namespace pondage::cmd
