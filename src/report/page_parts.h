// The parts of the page that are not data, made at build time: our style and script, and uPlot's.
#pragma once

#include <string_view>

namespace pondage::report {

extern const std::string_view kUplotScript;
extern const std::string_view kUplotStyle;
extern const std::string_view kPageScript;
extern const std::string_view kPageStyle;
extern const std::string_view kPageBody;

}  // namespace pondage::report
