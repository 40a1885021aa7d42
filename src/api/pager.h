// The objects of a list, one after the other, all as of one revision, read in pages of bounded
// size.
//
// For one thread at a time. What it holds does not grow with the list.
#pragma once

#include <cstddef>
#include <optional>

#include "api/select.h"
#include "base/result.h"
#include "port/store.h"

namespace pondage::api {

class Pager {
 public:
  // `query` says where it begins, which revision (0: the newest) and whether to count, which is
  // done where nothing selects; its limit and facet are the pager's own. The store must outlive it.
  Pager(const port::Store& store, port::ListQuery query, Selection selection);

  // Settles the revision and reads the first page; once, before the rest.
  base::Result<void> Begin();
  port::Revision revision() const { return query_.at; }

  // The next one that is selected; none: there are no more. kExpired: the reader was so slow that
  // the revision is no longer kept.
  base::Result<std::optional<port::Object>> Next();
  // How many are behind the last one that Next() gave, for a pager that counts.
  bool Counts() const { return counts_; }
  std::size_t Remaining() const { return page_.objects.size() - next_ + page_.remaining; }

 private:
  base::Result<void> ReadPage();

  const port::Store* store_;
  port::ListQuery query_;
  Selection selection_;
  const bool counts_;
  port::Listing page_;
  std::size_t next_ = 0;
};

}  // namespace pondage::api
