#include "store/readers.h"

#include "base/assert.h"

namespace pondage::store {

Readers::~Readers() {
  REQUIRE(open_ == static_cast<int>(free_.size()));
}

void Readers::CloseIdle() {
  const std::scoped_lock lock(mutex_);
  open_ -= static_cast<int>(free_.size());
  free_.clear();
}

base::Result<Readers::Lease> Readers::Take() {
  {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !free_.empty() || open_ < most_; });
    if (!free_.empty()) {
      Lease lease(*this, std::move(free_.back()));
      free_.pop_back();
      return lease;
    }
    ++open_;
  }
  auto opened = Database::Open(options_);
  if (!opened) {
    const std::scoped_lock lock(mutex_);
    --open_;
    freed_.notify_one();
    return std::unexpected(std::move(opened).error());
  }
  return Lease(*this, *std::move(opened));
}

void Readers::GiveBack(std::unique_ptr<Database> database) {
  database->RollBack();
  std::unique_lock lock(mutex_);
  if (static_cast<int>(free_.size()) < idle_ && !database->InTransaction()) {
    free_.push_back(std::move(database));
  } else {
    --open_;
  }
  lock.unlock();
  freed_.notify_one();
}

}  // namespace pondage::store
