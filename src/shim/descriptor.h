// An open file of this process, closed with its holder; errno stays as it was.
//
// One thread at a time.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pondage::shim {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}  // -1: none
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    const int error = errno;
    if (number_ >= 0) close(number_);
    errno = error;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int Release() { return std::exchange(number_, -1); }  // the caller closes it

 private:
  int number_;
};

}  // namespace pondage::shim
