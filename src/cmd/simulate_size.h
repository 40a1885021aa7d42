// `pondage simulate --size-for TARGETS`: the fewest machines and how they were found, for people
// and for programs.
#pragma once

#include <string>
#include <vector>

#include "replay/size.h"
#include "terminal/screen.h"

namespace pondage::cmd {

// As screen.format asks: a table of what was tried, JSON or CSV.
std::string SizedText(const replay::Sized& sized, const std::vector<replay::Target>& targets,
                      const terminal::Screen& screen);

}  // namespace pondage::cmd
