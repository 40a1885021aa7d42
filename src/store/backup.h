// A copy of a running store in one file, as of one moment, that opens as a store itself.
//
// Thread rule: any thread, on a connection of its own; neither readers nor the writer wait for it.
#pragma once

#include <string>

#include "base/result.h"
#include "store/database.h"

namespace pondage::store {

// Writes `path`, which must not be there yet (kAlreadyExists); until it is complete and on the disk
// it is called `path`.partial.
base::Result<void> BackUp(const Database::Options& source, const std::string& path);

}  // namespace pondage::store
