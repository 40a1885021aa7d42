// Discovery and OpenAPI: what this server serves, in the forms that clients ask for.
//
// Pure, over the table of kinds.
#pragma once

#include <optional>

#include "api/problem.h"
#include "api/request.h"
#include "api/response.h"

namespace pondage::api {

// /api, /apis, /apis/G, /api/v1, /apis/G/V. None: another path.
std::optional<Response> Discover(const Request& request);
// /openapi/v2, /openapi/v3, /openapi/v3/... None: another path.
std::optional<Response> OpenApi(const Request& request);
boost::json::object Version();

}  // namespace pondage::api
