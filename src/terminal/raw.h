// The terminal without echo and line editing, so that each key goes to a program elsewhere.
//
// At most one at a time; how it was comes back with the destructor, and when SIGTERM or SIGHUP ends
// this process.
#pragma once

#include <termios.h>

namespace pondage::terminal {

class Raw {
 public:
  explicit Raw(int terminal);
  ~Raw();
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

 private:
  int terminal_;
  bool changed_ = false;
};

}  // namespace pondage::terminal
