#include "terminal/interrupt.h"

#include <atomic>

namespace pondage::terminal {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Set on whichever thread the signal comes to, read on others.
std::atomic<bool> came = false;
static_assert(std::atomic<bool>::is_always_lock_free, "only so a signal handler may set it");

void OnSignal(int) {
  came = true;
}

}  // namespace

Interrupt::Interrupt() {
  came = false;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &action, &before_[i]);
}

Interrupt::~Interrupt() {
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool Interrupt::Came() const {
  return came;
}

}  // namespace pondage::terminal
