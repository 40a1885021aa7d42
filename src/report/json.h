// One run's figures as JSON: shared by the JSON report and the data of the page.
#pragma once

#include <boost/json.hpp>

#include "report/report.h"

namespace pondage::report {

boost::json::object ResultJson(const Report& report, const Result& result);

}  // namespace pondage::report
