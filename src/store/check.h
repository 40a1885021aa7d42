// A look for damage: the file's structure, every row's checksum, and whether the tables agree.
//
// Thread rule: that of the connection; holds one snapshot for its whole time, which may be long.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace pondage::store {

// What is wrong, one sentence each, at most 100; empty: nothing. Errors only when it cannot look.
base::Result<std::vector<std::string>> CheckStructure(Database& database);
base::Result<std::vector<std::string>> CheckAll(Database& database);

}  // namespace pondage::store
