// A Store whose commits fail now and then, as a disk would: before anything was written, or after
// it was written without the caller being told. The seed decides which.
//
// Wraps another store, which must outlive it. Thread rule as in port::Store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "port/store.h"

namespace pondage::port {

class FaultyStore : public Store {
 public:
  // One commit in `before` fails unwritten, one in `after` is written and fails; 0: never.
  struct Odds {
    std::uint64_t before = 20;
    std::uint64_t after = 20;
  };

  FaultyStore(Store& inner, base::Random random, Odds odds)
      : inner_(inner), random_(random), odds_(odds) {}

  // Fair weather from now on, or foul again: on the committing thread.
  void SetOdds(Odds odds) { odds_ = odds; }
  int faults() const { return faults_; }  // commits that failed so far

  base::Result<Revision> Commit(const Batch& batch) override;
  base::Result<Object> Get(const Key& key) const override { return inner_.Get(key); }
  base::Result<Listing> List(const ListQuery& query) const override { return inner_.List(query); }
  Revision Newest() const override { return inner_.Newest(); }
  Revision Oldest() const override { return inner_.Oldest(); }
  base::Result<std::unique_ptr<Watch>> Follow(const std::string& kind, Revision from,
                                              OnEvents on_events) override {
    return inner_.Follow(kind, from, std::move(on_events));
  }
  base::Result<std::vector<Key>> Live(const std::string& kind) const override {
    return inner_.Live(kind);
  }
  base::Result<std::vector<DueKey>> Due(base::Instant from, base::Instant until,
                                        std::size_t limit) const override {
    return inner_.Due(from, until, limit);
  }
  base::Result<std::size_t> CountDue(base::Instant from, base::Instant until) const override {
    return inner_.CountDue(from, until);
  }
  base::Result<std::vector<std::string>> Records(const std::string& stream, std::size_t skip,
                                                 std::size_t limit) const override {
    return inner_.Records(stream, skip, limit);
  }

 private:
  Store& inner_;
  base::Random random_;
  Odds odds_;
  int faults_ = 0;
};

}  // namespace pondage::port
