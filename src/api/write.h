// Writes: create, replace, patch. Each is read, changed, admitted, and handed to the one writer.
//
// Thread rule: called on an IO thread; the answer comes on the writer's thread, or at once when it
// is a refusal. A patch without a revision of the client's is retried when it loses a race.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/world.h"

namespace pondage::api {

void Create(Request request, Route route, const World& world, Reply reply);
void Replace(Request request, Route route, const World& world, Reply reply);
void Patch(Request request, Route route, const World& world, Reply reply);

}  // namespace pondage::api
