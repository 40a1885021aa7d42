// An open file of this process, closed with its holder; errno stays as it was.
//
// One thread at a time.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pondage::api {

class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}  // -1: none
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File() {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    errno = error;
  }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }  // the caller closes it

 private:
  int fd_ = -1;
};

}  // namespace pondage::api
