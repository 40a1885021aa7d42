#include "store/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

namespace pondage::store {

using base::Fail;
using base::Kind;

namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kLookAgain{5};

// 0: it is not told.
pid_t HolderOf(int file) {
  std::array<char, 32> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  pid_t pid = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
  return pid;
}

bool IsGone(pid_t pid) {
  return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

// A server that is killed while it starts a program leaves the lock, for a moment, to the child
// that has not become the program yet: from a holder that is gone it is waited for.
bool LockSoon(int file) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return false;
    const pid_t holder = HolderOf(file);
    if (holder == 0 || !IsGone(holder) || std::chrono::steady_clock::now() > until) {
      errno = EWOULDBLOCK;
      return false;
    }
    std::this_thread::sleep_for(kLookAgain);
  }
  return true;
}

}  // namespace

base::Result<LockFile> LockFile::Take(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return Fail(Kind::kUnavailable, "PND-S004", path,
                fmt::format("the lock file cannot be opened ({})", std::strerror(errno)));
  }
  LockFile lock(file);
  if (!LockSoon(file)) {
    if (errno != EWOULDBLOCK) {
      return Fail(Kind::kUnavailable, "PND-S004", path,
                  fmt::format("the lock cannot be taken ({})", std::strerror(errno)));
    }
    const pid_t holder = HolderOf(file);
    const std::string who = holder == 0 ? "another process" : fmt::format("process {}", holder);
    return Fail(Kind::kUnavailable, "PND-S002", path, who + " is using this store");
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
