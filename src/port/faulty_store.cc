#include "port/faulty_store.h"

namespace pondage::port {

base::Result<Revision> FaultyStore::Commit(const Batch& batch) {
  if (odds_.before > 0 && random_.OneIn(odds_.before)) {
    ++faults_;
    return base::Fail(base::Kind::kUnavailable, "", "", "the disk refused the commit");
  }
  auto first = inner_.Commit(batch);
  if (first && odds_.after > 0 && random_.OneIn(odds_.after)) {
    ++faults_;
    return base::Fail(base::Kind::kUnavailable, "", "", "the disk did not confirm the commit");
  }
  return first;
}

}  // namespace pondage::port
