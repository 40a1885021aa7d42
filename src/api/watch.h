// A watch: what changes in a collection, as a stream of events behind a version.
//
// The stream belongs to one session; see watchers.h for who feeds it.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/watchers.h"
#include "api/world.h"

namespace pondage::api {

Response Watch(const Request& request, const Route& route, const World& world, Watchers& watchers);

}  // namespace pondage::api
