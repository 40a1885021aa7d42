// One row of the log: a version of an object, with the checksum over all of it.
//
// Pure functions over a statement's current row; the thread of its connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "port/store.h"
#include "store/database.h"

namespace pondage::store {

// "tfjobs.kubeflow.org/ml/mnist", for messages.
std::string NameOf(const port::Key& key);

struct Version {
  port::Object object;
  port::Revision previous = 0;
  bool deleted = false;
};

// As a statement selects it (table alias l): a row is looked at before its body is copied.
inline constexpr int kVersionColumns = 11;
#define PONDAGE_VERSION_COLUMNS                                                                  \
  "l.revision, l.space, l.name, l.uid, l.created, l.previous, l.deleted, l.splice, l.checksum, " \
  "l.facets, l.body"

class VersionRow {
 public:
  // The columns above start at `first`.
  VersionRow(const Query& query, std::string_view kind, int first = 0)
      : query_(query), kind_(kind), first_(first) {}

  std::string_view space() const { return query_.Bytes(first_ + 1); }
  std::string_view name() const { return query_.Bytes(first_ + 2); }
  bool deleted() const { return query_.Int(first_ + 6) != 0; }
  std::string_view facets() const { return query_.Bytes(first_ + 9); }

  // kCorrupt when the checksum is not that of the row.
  base::Result<Version> Read() const;
  base::Result<void> Verify() const;

 private:
  const Query& query_;
  std::string_view kind_;
  int first_;
};

std::int64_t ChecksumOf(const Version& version);
std::int64_t ChecksumOfRecord(std::string_view stream, std::int64_t number, std::string_view bytes);

}  // namespace pondage::store
