// The review kinds: who am I, may I, what may I.
//
// Any thread; nothing is stored.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/world.h"

namespace pondage::api {

Response Review(const Request& request, const Route& route, const World& world);

}  // namespace pondage::api
