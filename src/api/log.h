// GET pods/NAME/log: what a replica wrote, from where the client asks, and on as it grows.
//
// The header `Pondage-Log-From: UID/START/OFFSET` names the answer's first byte; asked for with
// `from`, in place of tailLines and sinceSeconds, a reader goes on exactly where it was.
//
// The stream reads through port::Logs on the session's thread; nothing is kept in memory.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/world.h"

namespace pondage::api {

Response PodLog(const Request& request, const Route& route, const World& world);

}  // namespace pondage::api
