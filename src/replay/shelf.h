// A store for one run: the present state of every object, indexed by what the loop asks for, and
// nothing of the past. Ledger lines are dropped, nobody watches.
//
// One thread. Memory and time follow what is there at one instant, not how much has ever been: a
// run of a hundred thousand jobs needs the memory of those that wait or run. As MemoryStore it
// answers at the newest revision (shelf_test compares them); older ones are kExpired.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "port/store.h"

namespace pondage::replay {

class Shelf : public port::Store {
 public:
  base::Result<port::Revision> Commit(const port::Batch& batch) override;
  base::Result<port::Object> Get(const port::Key& key) const override;
  base::Result<port::Listing> List(const port::ListQuery& query) const override;
  port::Revision Newest() const override { return newest_; }
  port::Revision Oldest() const override { return newest_; }
  base::Result<std::unique_ptr<port::Watch>> Follow(const std::string& kind, port::Revision from,
                                                    OnEvents on_events) override;
  base::Result<std::vector<port::Key>> Live(const std::string& kind) const override;
  base::Result<std::vector<port::DueKey>> Due(base::Instant from, base::Instant until,
                                              std::size_t limit) const override;
  base::Result<std::size_t> CountDue(base::Instant from, base::Instant until) const override;
  base::Result<std::vector<std::string>> Records(const std::string& stream, std::size_t skip,
                                                 std::size_t limit) const override;

  std::size_t size() const { return objects_.size(); }

 private:
  struct Entry {
    port::Object object;
    bool live = false;
    std::optional<base::Instant> due;
  };
  using Objects = std::map<port::Key, Entry>;

  base::Result<void> Check(const port::Batch& batch) const;
  void Put(const port::Change& change);
  void Take(Objects::iterator entry);  // out of all indexes

  port::Revision newest_ = 0;
  Objects objects_;
  std::map<std::string, std::set<port::Key>, std::less<>> owned_;  // by owner facet ("o:uid")
  std::set<std::pair<base::Instant, port::Key>> due_;
};

}  // namespace pondage::replay
