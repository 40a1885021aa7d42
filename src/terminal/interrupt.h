// Ctrl-C (and a hang-up, and SIGTERM) as something to look at instead of an end.
//
// At most one at a time; the former handlers come back with the destructor.
#pragma once

#include <csignal>

namespace pondage::terminal {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool Came() const;

 private:
  struct sigaction before_[3] = {};
};

}  // namespace pondage::terminal
