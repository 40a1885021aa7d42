#include "store/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pondage::store {

using base::Fail;
using base::Kind;

namespace {

std::string HolderOf(int file) {
  std::array<char, 32> text{};
  const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
  const std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return pid.empty() ? "another process" : "process " + pid.substr(0, pid.find('\n'));
}

}  // namespace

base::Result<LockFile> LockFile::Take(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return Fail(Kind::kUnavailable, "PND-S004", path,
                fmt::format("the lock file cannot be opened ({})", std::strerror(errno)));
  }
  LockFile lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Fail(Kind::kUnavailable, "PND-S004", path,
                  fmt::format("the lock cannot be taken ({})", std::strerror(errno)));
    }
    return Fail(Kind::kUnavailable, "PND-S002", path,
                fmt::format("{} is using this store", HolderOf(file)));
  }
  // The text only informs: on a full disk the lock holds all the same.
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(file, 0) == 0) (void)!pwrite(file, pid.data(), pid.size(), 0);
  return lock;
}

LockFile::~LockFile() {
  if (file_ >= 0) close(file_);
}

}  // namespace pondage::store
