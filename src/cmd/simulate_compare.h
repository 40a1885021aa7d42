// `pondage simulate --compare A B`: the partings of two runs, for people and for programs.
#pragma once

#include <string>

#include "replay/compare.h"
#include "terminal/screen.h"

namespace pondage::cmd {

// As screen.format asks: a table of the first partings, or all of them as JSON or CSV.
std::string ComparisonText(const replay::Comparison& comparison, const terminal::Screen& screen);

// How many partings a person is shown, with their why.
inline constexpr std::size_t kShownPartings = 20;

}  // namespace pondage::cmd
