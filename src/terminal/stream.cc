#include "terminal/stream.h"

#include <unistd.h>

#include <cerrno>

namespace pondage::terminal {
namespace {

void WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      // Whoever read us is gone: nobody is left to tell.
      if (file == STDOUT_FILENO) _exit(errno == EPIPE ? 0 : 1);
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void Print(std::string_view text) {
  WriteAll(STDOUT_FILENO, text);
}

void Note(const Screen& screen, std::string_view text) {
  if (!screen.quiet) WriteAll(STDERR_FILENO, text);
}

void Tell(std::string_view text) {
  WriteAll(STDERR_FILENO, text);
}

}  // namespace pondage::terminal
