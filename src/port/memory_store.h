// A Store in memory: the model that the real one is compared with, and the simulator's.
//
// Keeps every version since `Oldest()`. Thread rule as in port::Store (one mutex).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "port/store.h"

namespace pondage::port {

class MemoryStore : public Store {
 public:
  base::Result<Revision> Commit(const Batch& batch) override;
  base::Result<Object> Get(const Key& key) const override;
  base::Result<Listing> List(const ListQuery& query) const override;
  Revision Newest() const override;
  Revision Oldest() const override;
  base::Result<std::unique_ptr<Watch>> Follow(const std::string& kind, Revision from,
                                              OnEvents on_events) override;
  base::Result<std::vector<Key>> Live(const std::string& kind) const override;
  base::Result<std::vector<DueKey>> Due(base::Instant from, base::Instant until,
                                        std::size_t limit) const override;
  base::Result<std::size_t> CountDue(base::Instant from, base::Instant until) const override;
  base::Result<std::vector<std::string>> Records(const std::string& stream, std::size_t skip,
                                                 std::size_t limit) const override;

  // Forgets what only revisions before `oldest` can see. Requires oldest <= Newest().
  void CompactTo(Revision oldest);

 private:
  struct Version {
    Object object;
    bool deleted = false;
    bool live = false;
    std::optional<base::Instant> due;
  };
  struct Follower {
    std::string kind;
    OnEvents on_events;
  };
  using History = std::map<Revision, Version>;  // of one key
  class MemoryWatch;

  // All of these with the mutex held.
  static const Version* StateAt(const History& history, Revision revision);  // null: not there
  base::Result<void> Check(const Batch& batch) const;
  void Apply(const Change& change, Revision revision);
  std::vector<Event> EventsAfter(const std::string& kind, Revision from) const;
  void Tell(Revision from) const;
  bool Expired(Revision revision) const { return revision < oldest_ || revision > newest_; }

  mutable std::mutex mutex_;
  Revision newest_ = 0;
  Revision oldest_ = 0;
  std::map<Key, History> versions_;
  std::map<Revision, Key> log_;
  std::map<std::string, std::vector<std::string>> records_;
  std::map<int, Follower> followers_;
  int next_follower_ = 0;
};

// Whether `facets` holds `line` (without its line end).
bool HasFacet(std::string_view facets, std::string_view line);

// The rules of Store::Commit for one change, except for what the store holds.
base::Result<void> CheckChange(const Change& change);

}  // namespace pondage::port
