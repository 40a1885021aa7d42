#include "terminal/raw.h"

#include <csignal>

namespace pondage::terminal {
namespace {

// What a signal handler needs, and may use: tcsetattr is one of the functions that are safe there.
termios before;
int restored = -1;

void RestoreAndEnd(int signal) {
  tcsetattr(restored, TCSANOW, &before);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

Raw::Raw(int terminal) : terminal_(terminal) {
  if (tcgetattr(terminal, &before) != 0) return;
  restored = terminal;
  std::signal(SIGTERM, RestoreAndEnd);
  std::signal(SIGHUP, RestoreAndEnd);
  termios raw = before;
  cfmakeraw(&raw);
  changed_ = tcsetattr(terminal, TCSADRAIN, &raw) == 0;
}

Raw::~Raw() {
  if (changed_) tcsetattr(terminal_, TCSADRAIN, &before);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace pondage::terminal
