// The working copies that `pondage run` makes below the data directory:
// `work/<namespace>.<job>-<letters>`.
//
// One thread; what takes long is removed on threads of its own.
#pragma once

#include <filesystem>
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
  // A copy that root or an account of the machine made becomes the account's. Requires Belongs().
  base::Result<void> Give(const std::filesystem::path& path, const Account& account) const;
  // Requires Belongs().
  void Discard(const std::filesystem::path& path) const;

 private:
  std::filesystem::path CopyOf(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
};

}  // namespace pondage::agent
