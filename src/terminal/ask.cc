#include "terminal/ask.h"

#include <fmt/core.h>

#include <iostream>
#include <string>

namespace pondage::terminal {

base::Result<bool> Ask(const Screen& screen, std::string_view question, bool otherwise) {
  if (!screen.in_is_terminal) {
    return base::Fail(base::Kind::kInvalid, "PND-C018", "",
                      fmt::format("\"{}\" cannot be asked here", question));
  }
  // A question is no progress: it is shown under --quiet, too.
  std::cerr << question << (otherwise ? " [Y/n] " : " [y/N] ") << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  if (answer.empty()) return otherwise;
  return answer[0] == 'y' || answer[0] == 'Y' || answer.starts_with("是");
}

}  // namespace pondage::terminal
