// Completion scripts for bash, zsh and fish, made from the table of commands.
//
// Pure; any thread. Names of jobs are asked for at the time of completion, by `pondage ps -a -o
// name`.
#pragma once

#include <string>
#include <string_view>

namespace pondage::grammar {

std::string CompletionScript(std::string_view shell);

}  // namespace pondage::grammar
