// Writing to the two streams: the answer to stdout, all else to stderr.
//
// Any thread.
#pragma once

#include <string_view>

#include "terminal/screen.h"

namespace pondage::terminal {

// The answer. A closed pipe ends the program quietly.
void Print(std::string_view text);
// Progress and warnings; nothing under --quiet.
void Note(const Screen& screen, std::string_view text);
// Errors and questions: shown under --quiet, too.
void Tell(std::string_view text);

}  // namespace pondage::terminal
