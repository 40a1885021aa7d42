// GET and POST pods/NAME/exec: a further program inside a replica, over a WebSocket.
//
// Any thread; what it starts is in exec_talk.h.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/world.h"

namespace pondage::api {

Response Exec(const Request& request, const Route& route, const World& world);

}  // namespace pondage::api
