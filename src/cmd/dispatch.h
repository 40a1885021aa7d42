// From the words of a command line to an exit code: parse, run the subcommand, tell its error.
//
// One thread, once.
#pragma once

#include <string>
#include <vector>

namespace pondage::cmd {

int Dispatch(const std::vector<std::string>& words);

// Whether --help or -h stands among the flags of these words.
bool AsksForHelp(const std::vector<std::string>& words);

}  // namespace pondage::cmd
