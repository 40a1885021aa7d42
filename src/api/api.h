// Everything between a request and its answer: authentication, authorization, then the verb.
//
// Thread rule: Handle() from any thread; it answers on that thread or, for writes, on the writer's.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/watchers.h"
#include "api/world.h"

namespace pondage::api {

class Api {
 public:
  Api(World world, Watchers& watchers) : world_(std::move(world)), watchers_(watchers) {}
  void Handle(Request request, Reply reply);

 private:
  void HandleResource(Request request, Route route, const Reply& reply);
  Response HandlePath(const Request& request);

  const World world_;
  Watchers& watchers_;
};

}  // namespace pondage::api
