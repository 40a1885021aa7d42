// The files between the server and a program that it started for a client: pipes, or one terminal.
//
// Values that own their descriptors. The server's ends do not block, the program's do.
#pragma once

#include <utility>

#include "base/result.h"

namespace pondage::api {

class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File();

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct ExecEnds {
  File to_in, from_out, from_err;  // ours; of a terminal `to_in` and `from_out` are its master
  File in, out, err;               // the program's; of a terminal its slave, three times

  // Those that are asked for; the others stay empty.
  static base::Result<ExecEnds> Pipes(bool in, bool out, bool err);
  static base::Result<ExecEnds> Terminal();
};

}  // namespace pondage::api
