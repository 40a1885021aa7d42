#include "terminal/interrupt.h"

namespace pondage::terminal {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t came = 0;

void OnSignal(int) {
  came = 1;
}

}  // namespace

Interrupt::Interrupt() {
  came = 0;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &action, &before_[i]);
}

Interrupt::~Interrupt() {
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool Interrupt::Came() const {
  return came != 0;
}

}  // namespace pondage::terminal
