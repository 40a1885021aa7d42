// A layer under SQLite that puts a checksum at the end of every page of the main file and checks it
// on every read, so that damage is an error and never a row that is silently missing.
//
// SQLite leaves kReservedBytes at the end of each page free for it; the log file (-wal) has sums of
// its own. A page that fails gives SQLITE_IOERR_DATA. The sum covers the page's number, so that a
// page at the wrong place is found too. Thread rule: any.
#pragma once

#include <string>

#include "base/result.h"

namespace pondage::store {

inline constexpr int kPageSize = 4096;
inline constexpr int kReservedBytes = 4;

// Registers the layer over the VFS `under` (empty: SQLite's own) once, and gives its name. Every
// connection to a store must be opened through it.
base::Result<std::string> GuardedVfs(const std::string& under);

}  // namespace pondage::store
