// A yes-or-no question on the terminal.
//
// One thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "terminal/screen.h"

namespace pondage::terminal {

// `otherwise` is the answer of an empty line. PND-C018 when the input is not a terminal.
base::Result<bool> Ask(const Screen& screen, std::string_view question, bool otherwise);

}  // namespace pondage::terminal
