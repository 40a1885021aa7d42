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

// Reviews have no subresources and take what comes behind their name as a wrong method.
bool Answers(const Route& route) {
  const bool of_pod =
      route.subresource == "log" || route.subresource == "exec" || route.subresource == "eviction";
  return route.subresource.empty() || route.kind->storage.empty() ||
         (route.subresource == "status" && route.kind->has_status) ||
         (of_pod && route.kind->plural == "pods");
}

// What a verb goes to. A list and a watch may name one object or none, in one namespace or all.
struct Target {
  Verb verb;
  enum class Name : std::uint8_t { kNone, kOne, kAny } name;
  bool in_one_space = true;
};
constexpr Target kTargets[] = {
    {Verb::kGet, Target::Name::kOne},          {Verb::kList, Target::Name::kNone, false},
    {Verb::kWatch, Target::Name::kAny, false}, {Verb::kCreate, Target::Name::kNone},
    {Verb::kUpdate, Target::Name::kOne},       {Verb::kPatch, Target::Name::kOne},
    {Verb::kDelete, Target::Name::kOne},       {Verb::kDeleteCollection, Target::Name::kNone},
};

bool Allows(const Route& route) {
  const manifest::Kind& kind = *route.kind;
  if (kind.storage.empty()) return route.verb == Verb::kCreate && route.name.empty();
  if (route.subresource == "log") return route.verb == Verb::kGet;
  if (!route.subresource.empty() && route.subresource != "status") {
    return route.verb == Verb::kCreate;
  }
  if (route.subresource == "status" && route.verb != Verb::kGet && route.verb != Verb::kUpdate &&
      route.verb != Verb::kPatch) {
    return false;
  }
  const auto* const target = std::ranges::find(kTargets, route.verb, &Target::verb);
  const bool named = !route.name.empty();
  const bool fits =
      target->name == Target::Name::kAny || named == (target->name == Target::Name::kOne);
  const bool placed = !kind.namespaced || !route.space.empty() || !target->in_one_space;
  return fits && placed && std::ranges::find(kind.verbs, VerbName(route.verb)) != kind.verbs.end();
}

}  // namespace

void Api::Handle(Request request, Reply reply) {
  if (IsOpen(request.path)) return reply(HandlePath(request));
  auto identity = Authenticate(request.authorization, world_.tokens);
  if (!identity) return reply(ToResponse(identity.error()));
  request.identity = *std::move(identity);
  if (auto route = RouteOf(request)) {
    return HandleResource(std::move(request), *std::move(route), reply);
  }
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

void Api::HandleResource(Request request, Route route, const Reply& reply) {
  std::string selected;  // a list or watch of one object by its name
  if (route.kind && route.name.empty()) {
    if (const auto selection = Selection::Of(request, *route.kind)) selected = selection->Name();
  }
  if (const auto fine = Authorize(request.identity, route, selected); !fine) {
    return reply(ToResponse(fine.error()));
  }
  if (!route.kind) return reply(ToResponse(NoSuchResource()));
  if (!Answers(route)) return reply(ToResponse(NoSuchResource()));
  if (!Allows(route)) return reply(ToResponse(MethodNotAllowed()));
  if (route.kind->storage.empty()) return reply(Review(request, route, world_));
  if (route.subresource == "log") return reply(PodLog(request, route, world_));
  if (route.subresource == "exec") return reply(Exec(request, route, world_));
  if (route.subresource == "eviction") {
    return Evict(std::move(request), std::move(route), world_, reply);
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
