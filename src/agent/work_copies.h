// The working copies that `pondage run` makes below the data directory:
// `work/<namespace>.<job>-<letters>`.
//
// Any thread; what takes long is removed on a thread for that (discard.h).
#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "agent/account.h"
#include "base/result.h"

namespace pondage::agent {

class WorkCopies {
 public:
  // Removes what a server before this one began to remove.
  explicit WorkCopies(const std::string& data_dir);

  // Whether `path` is the copy of that job, or below it. The namespace is part of the name: a job
  // that names another's copy has no say in it.
  bool Belongs(const std::filesystem::path& path, const std::string& space,
               const std::string& job) const;
  // A copy that root or an account of the machine made becomes the account's; who made it may still
  // read it, and what is made in it. Requires Belongs().
  base::Result<void> Give(const std::filesystem::path& path, const Account& account) const;
  // Requires that CopyOf() is one.
  void Discard(const std::filesystem::path& path) const;

  // The copy that the path is, or lies in; empty: none.
  std::filesystem::path CopyOf(const std::filesystem::path& path) const;
  // Those that were made before that.
  std::set<std::filesystem::path> Older(std::chrono::seconds age) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace pondage::agent
