// What a reader asks of the tables: one look each, at one snapshot, checked row by row.
//
// Thread rule: that of the connection. Nothing here writes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "port/store.h"
#include "store/database.h"
#include "store/version.h"

namespace pondage::store {

base::Result<port::Object> Get(Database& database, const port::Key& key);
base::Result<port::Listing> List(Database& database, const port::ListQuery& query);
base::Result<std::vector<port::Key>> Live(Database& database, const std::string& kind);
base::Result<std::vector<port::DueKey>> Due(Database& database, base::Instant from,
                                            base::Instant until, std::size_t limit);
base::Result<std::size_t> CountDue(Database& database, base::Instant from, base::Instant until);
base::Result<std::vector<std::string>> Records(Database& database, const std::string& stream,
                                               std::size_t skip, std::size_t limit);

// Events of a kind after a revision, from the log; a bounded number of them.
struct History {
  std::vector<port::Event> events;
  port::Revision until = 0;  // everything up to here is in `events`
};
base::Result<History> EventsAfter(Database& database, const std::string& kind, port::Revision from);

base::Result<port::Revision> NewestIn(Database& database);
base::Result<port::Revision> OldestIn(Database& database);

port::Event EventOf(Version version, std::shared_ptr<const std::string> previous_facets);

}  // namespace pondage::store
