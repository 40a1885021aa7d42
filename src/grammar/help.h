// Pages made from the table of commands and the texts of errors: help, man, and the overview.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "grammar/command.h"
#include "terminal/screen.h"

namespace pondage::grammar {

// "pondage ps [JOB...]".
std::string UsageLine(const Command& command);
std::string OverviewText(const terminal::Screen& screen);
std::string HelpText(const Command& command, const terminal::Screen& screen);
// Page of an error id ("PND-C001"); none: there is no such id.
std::optional<std::string> ErrorPage(std::string_view id, const terminal::Screen& screen);
// All error ids with their titles.
std::string ErrorIndex(const terminal::Screen& screen);
// Source of `pondage-COMMAND(1)`, or of pondage(1) without one.
std::string RoffPage(const Command* command, const terminal::Screen& screen);

}  // namespace pondage::grammar
