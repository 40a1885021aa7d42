// Deletion: of one object, of a collection, and by eviction. What goes with an object is the
// writer's business.
//
// Thread rule as in write.h.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/world.h"

namespace pondage::api {

void Delete(Request request, Route route, const World& world, Reply reply);
void DeleteCollection(Request request, Route route, const World& world, Reply reply);
// POST pods/NAME/eviction
void Evict(Request request, Route route, const World& world, Reply reply);

}  // namespace pondage::api
