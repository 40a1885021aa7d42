#include "ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::ledger {

void Ledger::Open(Entry opening) {
  REQUIRE(!IsOpen(opening.replica));
  REQUIRE(opening.gpus.value >= 0);
  opening.to = opening.from;
  opening.end.clear();
  open_.emplace(opening.replica, std::move(opening));
}

Entry Ledger::Close(base::ReplicaId replica, base::Instant to, std::string end) {
  const auto found = open_.find(replica);
  REQUIRE(found != open_.end());
  Entry entry = std::move(found->second);
  open_.erase(found);
  entry.to = std::max(entry.from, to);
  entry.end = std::move(end);
  PROMISE(entry.to >= entry.from);
  return entry;
}

}  // namespace pondage::ledger
