#include "api/api.h"

#include <algorithm>

#include "api/auth.h"
#include "api/discovery.h"
#include "api/exec.h"
#include "api/log.h"
#include "api/read.h"
#include "api/remove.h"
#include "api/review.h"
#include "api/route.h"
#include "api/select.h"
#include "api/views.h"
#include "api/watch.h"
#include "api/write.h"

namespace pondage::api {

namespace {

Response PageNotFound() {
  return TextResponse("404 page not found\n", 404);
}

bool Offers(const manifest::Kind& kind, Verb verb) {
  return std::ranges::find(kind.verbs, VerbName(verb)) != kind.verbs.end();
}

}  // namespace

void Api::Handle(Request request, Reply reply) {
  if (IsOpen(request.path)) return reply(HandlePath(request));
  auto identity = Authenticate(request.authorization, world_.tokens);
  if (!identity) return reply(ToResponse(identity.error()));
  request.identity = *std::move(identity);
  const auto route = RouteOf(request);
  if (route) return HandleResource(std::move(request), reply);
  if (const auto fine = AuthorizePath(request.identity, request.method, request.path); !fine) {
    return reply(ToResponse(fine.error()));
  }
  const bool own = world_.own_view && request.path.starts_with("/pondage/v1/");
  if (own && world_.own_view(request, reply)) return;
  reply(HandlePath(request));
}

Response Api::HandlePath(const Request& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path.starts_with("/pondage/v1/")) return View(request, world_);
  if (!reads) return ToResponse(MethodNotAllowed());
  if (request.path == "/version") return JsonResponse(Version());
  if (IsOpen(request.path)) return TextResponse("ok");
  if (request.path == "/metrics" && world_.metrics) {
    Response response = TextResponse(world_.metrics());
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  }
  if (auto response = Discover(request)) return *std::move(response);
  if (auto response = OpenApi(request)) return *std::move(response);
  return PageNotFound();
}

void Api::HandleResource(Request request, const Reply& reply) {
  Route route = *RouteOf(request);
  std::string selected;  // a list or watch of one object by its name
  if (route.kind && route.name.empty()) {
    if (const auto selection = Selection::Of(request, *route.kind)) selected = selection->Name();
  }
  if (const auto fine = Authorize(request.identity, route, selected); !fine) {
    return reply(ToResponse(fine.error()));
  }
  if (!route.kind) return reply(ToResponse(NoSuchResource()));
  const bool stored = !route.kind->storage.empty();
  if (!stored) {
    if (route.verb != Verb::kCreate || !route.name.empty())
      return reply(ToResponse(MethodNotAllowed()));
    return reply(Review(request, route, world_));
  }
  if (route.kind->plural == "pods" && route.subresource == "log") {
    if (route.verb != Verb::kGet) return reply(ToResponse(MethodNotAllowed()));
    return reply(PodLog(request, route, world_));
  }
  if (route.kind->plural == "pods" && route.subresource == "exec") {
    if (route.verb != Verb::kCreate) return reply(ToResponse(MethodNotAllowed()));
    return reply(Exec(request, route, world_));
  }
  if (route.kind->plural == "pods" && route.subresource == "eviction") {
    if (route.verb != Verb::kCreate) return reply(ToResponse(MethodNotAllowed()));
    return Evict(std::move(request), std::move(route), world_, reply);
  }
  const bool status = route.subresource == "status" && route.kind->has_status;
  if (!route.subresource.empty() && !status) return reply(ToResponse(NoSuchResource()));
  const bool writes_status = route.verb == Verb::kUpdate || route.verb == Verb::kPatch;
  if (status && !writes_status && route.verb != Verb::kGet)
    return reply(ToResponse(MethodNotAllowed()));
  if (!Offers(*route.kind, route.verb)) return reply(ToResponse(MethodNotAllowed()));
  const bool nameless = route.verb == Verb::kUpdate || route.verb == Verb::kPatch;
  if (nameless == route.name.empty() && (nameless || route.verb == Verb::kCreate)) {
    return reply(ToResponse(MethodNotAllowed()));
  }
  // Across all namespaces one may look, not touch.
  const bool looks = route.verb == Verb::kList || route.verb == Verb::kWatch;
  if (route.kind->namespaced && route.space.empty() && !looks) {
    return reply(ToResponse(MethodNotAllowed()));
  }
  switch (route.verb) {
    case Verb::kGet:
      return reply(Get(request, route, world_));
    case Verb::kList:
      return reply(List(request, route, world_));
    case Verb::kWatch:
      return reply(Watch(request, route, world_, watchers_));
    case Verb::kCreate:
      return Create(std::move(request), std::move(route), world_, reply);
    case Verb::kUpdate:
      return Replace(std::move(request), std::move(route), world_, reply);
    case Verb::kPatch:
      return Patch(std::move(request), std::move(route), world_, reply);
    case Verb::kDelete:
      return Delete(std::move(request), std::move(route), world_, reply);
    case Verb::kDeleteCollection:
      return DeleteCollection(std::move(request), std::move(route), world_, reply);
  }
}

}  // namespace pondage::api
