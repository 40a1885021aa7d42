// The settings file of `pondage serve`, line by line, before it is believed.
//
// Any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pondage::cmd {

// What is wrong with the first line that is no `name = value` of a known name, with its number and
// the nearest name; empty: nothing.
std::string WrongSetting(std::string_view text, const std::set<std::string, std::less<>>& names);

}  // namespace pondage::cmd
