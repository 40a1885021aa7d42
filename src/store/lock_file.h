// A lock that one process holds on a store, and that names it to the others.
//
// Held while the object lives; a crash frees it. Any thread.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace pondage::store {

class LockFile {
 public:
  // PND-S002: another process (named in the message) has it.
  static base::Result<LockFile> Take(const std::string& path);

  LockFile(LockFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

 private:
  explicit LockFile(int file) : file_(file) {}
  int file_;
};

}  // namespace pondage::store
