// The changes of one turn, and what the store will look like once they are committed.
//
// Owned by one turn, on the loop's thread. Since the loop is the only writer, the revision of each
// change is known before the commit. A second change to an object within the turn replaces the
// first: a client that creates a job which starts at once sees one version, not three.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "port/store.h"

namespace pondage::loop {

class Pending {
 public:
  explicit Pending(const port::Store& store) : store_(store), first_(store.Newest() + 1) {}

  // As it will be after the changes so far. kNotFound, kCorrupt; kUnavailable: see trouble().
  base::Result<port::Object> Get(const port::Key& key) const;
  // The same, parsed; kCorrupt too for what is no JSON object.
  base::Result<boost::json::object> Parsed(const port::Key& key) const;
  // As stored, without the changes so far.
  base::Result<std::vector<port::Object>> List(const port::ListQuery& query) const;
  // The first failure of the store itself: what was drafted since is not to be trusted.
  const std::optional<base::Error>& trouble() const { return trouble_; }
  bool IsChanged(const port::Key& key) const { return latest_.contains(key); }
  // Keys of this kind and namespace that were changed so far.
  std::vector<port::Key> Changed(std::string_view kind, const std::string& space) const;
  // True too for one that cannot be read.
  bool Exists(const port::Key& key) const;

  // Creates or replaces. Gives the object with its revision.
  port::Object Put(port::Change change);
  // Deletes; `last` is its last state. Requires that it exists.
  port::Object Delete(const port::Object& last);
  port::Revision NextRevision() const {
    return first_ + static_cast<port::Revision>(batch_.changes.size());
  }
  void Append(port::Record record) { batch_.records.push_back(std::move(record)); }

  bool empty() const { return batch_.changes.empty() && batch_.records.empty(); }
  const port::Batch& batch() const { return batch_; }

 private:
  port::Object ObjectOf(std::size_t index) const;
  void Note(const base::Error& error) const;

  const port::Store& store_;
  port::Revision first_;
  mutable std::optional<base::Error> trouble_;
  port::Batch batch_;
  std::map<port::Key, std::size_t> latest_;      // newest change of a key, by position
  std::map<port::Key, port::Revision> created_;  // of keys created in this turn or before
};

}  // namespace pondage::loop
