// What the data directory holds of nobody: the server ended between a commit and the order to erase
// that followed from it.
//
// One thread; takes as long as the store is large. Nothing is removed of what a stored object may
// own: a TFJob the logs and volumes of its replicas (and its working copy), a Pod its own. When one
// of them cannot be read, it may own anything, and nothing is removed.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "agent/work_copies.h"
#include "base/result.h"
#include "port/store.h"

namespace pondage::agent {

class Sweep {
 public:
  using Erase = std::function<void(const std::string& uid)>;

  Sweep(const std::string& data_dir, const port::Store& store, Erase erase);

  // kCorrupt, kUnavailable: what is owned is not known.
  base::Result<void> Pass();

 private:
  using Understand = std::function<base::Result<void>(const port::Object&)>;
  std::set<std::string> Replicas() const;
  base::Result<void> EachOf(const std::string& kind, const Understand& understand) const;

  const std::string data_dir_;
  const port::Store& store_;
  const Erase erase_;
  const WorkCopies copies_;
};

}  // namespace pondage::agent
