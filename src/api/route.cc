#include "api/route.h"

#include <algorithm>
#include <vector>

namespace pondage::api {

namespace {

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    const auto end = path.find('/');
    segments.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? "" : path.substr(end);
  }
  return segments;
}

std::optional<Verb> VerbOf(const Request& request, bool named) {
  if (request.method == "GET" || request.method == "HEAD") {
    if (request.query.Flag("watch")) return Verb::kWatch;
    return named ? Verb::kGet : Verb::kList;
  }
  if (request.method == "POST") return Verb::kCreate;
  if (request.method == "PUT") return Verb::kUpdate;
  if (request.method == "PATCH") return Verb::kPatch;
  if (request.method == "DELETE") return named ? Verb::kDelete : Verb::kDeleteCollection;
  return std::nullopt;
}

manifest::Kind Review(std::string_view group, std::string_view version, std::string_view kind,
                      std::string_view plural, std::string_view singular) {
  manifest::Kind review;
  review.group = group;
  review.version = version;
  review.kind = kind;
  review.plural = plural;
  review.singular = singular;
  review.namespaced = false;
  review.verbs = {"create"};
  return review;
}

const std::vector<manifest::Kind>& ReviewTable() {
  static const std::vector<manifest::Kind> kTable = {
      Review("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", "tokenreview"),
  };
  return kTable;
}

}  // namespace

std::string_view VerbName(Verb verb) {
  constexpr std::string_view kNames[] = {"get",    "list",  "watch",  "create",
                                         "update", "patch", "delete", "deletecollection"};
  return kNames[static_cast<int>(verb)];
}

std::span<const manifest::Kind> Reviews() {
  return ReviewTable();
}

const manifest::Kind* FindReview(std::string_view group, std::string_view plural) {
  for (const auto& kind : ReviewTable()) {
    if (kind.group == group && kind.plural == plural) return &kind;
  }
  return nullptr;
}

std::optional<Route> RouteOf(const Request& request) {
  const auto parts = Segments(request.path);
  Route route;
  std::size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api" && parts[1] == "v1") {
    route.version = "v1";
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    route.group = parts[1];
    route.version = parts[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  bool below_namespace = false;
  // /namespaces/NS/status and /namespaces/NS/finalize are about the namespace itself.
  const bool own =
      parts.size() == at + 3 && (parts[at + 2] == "status" || parts[at + 2] == "finalize");
  if (parts[at] == "namespaces" && parts.size() > at + 2 && !own) {
    route.space = parts[at + 1];
    below_namespace = true;
    at += 2;
  }
  if (parts.size() > at + 3) return std::nullopt;
  route.resource = parts[at];
  if (parts.size() > at + 1) route.name = parts[at + 1];
  if (parts.size() > at + 2) route.subresource = parts[at + 2];
  if (std::ranges::any_of(parts, [](std::string_view part) { return part.empty(); })) {
    return std::nullopt;
  }
  const auto verb = VerbOf(request, !route.name.empty());
  if (!verb) return std::nullopt;
  route.verb = *verb;
  // A program is created, whatever the method that begins to talk to it.
  if (route.group.empty() && route.resource == "pods" && route.subresource == "exec" &&
      (route.verb == Verb::kGet || route.verb == Verb::kWatch)) {
    route.verb = Verb::kCreate;
  }
  route.kind = manifest::FindKind(route.group, route.resource);
  if (!route.kind) route.kind = FindReview(route.group, route.resource);
  if (!route.kind) return route;
  if (route.kind->version != route.version) route.kind = nullptr;
  // A cluster-scoped kind has no namespace, a named object of a namespaced one must have it.
  if (route.kind && !route.kind->namespaced && below_namespace) route.kind = nullptr;
  if (route.kind && route.kind->namespaced && !below_namespace && !route.name.empty()) {
    route.kind = nullptr;
  }
  return route;
}

}  // namespace pondage::api
