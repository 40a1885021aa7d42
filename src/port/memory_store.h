// A Store in memory: the model that the real one is compared with, and the simulator's.
//
// Keeps every version since `Oldest()`. Thread rule as in port::Store (one mutex).
#pragma once

#include <map>
#include <memory>
#include <mutex>
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
  base::Result<std::vector<Object>> Live(const std::string& kind) const override;
  base::Result<std::vector<Object>> Due(base::Instant now, std::size_t limit) const override;
  base::Result<base::Instant> NextDue() const override;
  base::Result<std::vector<std::string>> Records(const std::string& stream, std::size_t skip,
                                                 std::size_t limit) const override;

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
  class MemoryWatch;

  Event EventOf(const Version& version) const;
  const Version* At(const Key& key, Revision revision) const;

  mutable std::mutex mutex_;
  Revision newest_ = 0;
  Revision oldest_ = 0;
  std::map<Key, std::map<Revision, Version>> versions_;
  std::map<Revision, Key> log_;
  std::map<std::string, std::vector<std::string>> records_;
  std::map<int, std::shared_ptr<Follower>> followers_;
  int next_follower_ = 0;
};

}  // namespace pondage::port
