// Connections for readers: made when needed, a few kept, none waiting for the writer.
//
// Thread rule: any. A lease belongs to the thread that took it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace pondage::store {

class Readers {
 public:
  class Lease {
   public:
    Lease(Readers& readers, std::unique_ptr<Database> database)
        : readers_(&readers), database_(std::move(database)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (database_ != nullptr) readers_->GiveBack(std::move(database_));
    }
    Database& operator*() const { return *database_; }

   private:
    Readers* readers_;
    std::unique_ptr<Database> database_;
  };

  // At most `most` are open; `idle` of them stay open unused.
  Readers(Database::Options options, int most, int idle)
      : options_(std::move(options)), most_(most), idle_(idle) {}
  ~Readers();

  // So that the writer's connection is the last one, which empties the log file when it closes.
  void CloseIdle();

  // Waits only when all are in use by other readers.
  base::Result<Lease> Take();

 private:
  void GiveBack(std::unique_ptr<Database> database);

  const Database::Options options_;
  const int most_;
  const int idle_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Database>> free_;
  int open_ = 0;
};

}  // namespace pondage::store
