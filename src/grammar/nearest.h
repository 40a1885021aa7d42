// Which name was meant.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pondage::grammar {

// The nearest of `names` to what was typed, when it is near enough to be meant: at most two letters
// put in, left out or changed (Levenshtein). Empty: none.
std::string Nearest(std::string_view typed, const std::vector<std::string>& names);

}  // namespace pondage::grammar
