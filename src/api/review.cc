#include "api/review.h"

#include <fmt/format.h>

#include "api/auth.h"
#include "api/body.h"
#include "api/table.h"

namespace pondage::api {

namespace json = boost::json;

namespace {

json::object UserInfo(const Identity& identity) {
  json::array groups;
  if (identity.admin) groups.emplace_back("system:masters");
  groups.emplace_back("system:authenticated");
  return {{"username", identity.name}, {"groups", std::move(groups)}};
}

json::object Access(const json::object& review, const Identity& identity) {
  bool allowed = false;
  if (const json::value* path = At(review, "spec.nonResourceAttributes");
      path && path->is_object()) {
    allowed = MayVisit(identity, TextAt(path->get_object(), "path"));
  } else if (const json::value* asked = At(review, "spec.resourceAttributes");
             asked && asked->is_object()) {
    const json::object& about = asked->get_object();
    allowed = MayAccess(identity, {TextAt(about, "verb"), TextAt(about, "group"),
                                   TextAt(about, "resource"), TextAt(about, "subresource"),
                                   TextAt(about, "namespace"), TextAt(about, "name")});
  }
  json::object status{{"allowed", allowed}};
  if (allowed) {
    status["reason"] = fmt::format("token \"{}\"", identity.name);
  }
  return status;
}

template <class List>
json::array Array(const List& list) {
  json::array array;
  for (const std::string_view one : list) array.emplace_back(one);
  return array;
}

json::object Rules(const json::object& review, const Identity& identity) {
  json::array resources;
  const auto add = [&](json::array verbs, std::string_view group, std::string_view resource) {
    resources.push_back({{"verbs", std::move(verbs)},
                         {"apiGroups", json::array{group}},
                         {"resources", json::array{resource}}});
  };
  const std::string space = TextAt(review, "spec.namespace");
  if (identity.admin) {
    add({"*"}, "*", "*");
  } else {
    for (const Grant& grant : CommonGrants()) add(Array(grant.verbs), grant.group, grant.resource);
    const bool own = MayAccess(identity, {"get", "", "namespaces", "", "", space});
    if (own) add(identity.verbs.empty() ? json::array{"*"} : Array(identity.verbs), "*", "*");
  }
  json::array paths;
  if (identity.admin) {
    paths.push_back({{"verbs", json::array{"*"}}, {"nonResourceURLs", json::array{"*"}}});
  } else {
    paths.push_back(
        {{"verbs", json::array{"get"}},
         {"nonResourceURLs", json::array{"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                         "/openapi", "/openapi/*", "/readyz", "/version"}}});
  }
  return {{"resourceRules", std::move(resources)},
          {"nonResourceRules", std::move(paths)},
          {"incomplete", false}};
}

json::object TokenStatus(const json::object& review, const World& world) {
  const auto identity = world.tokens.Find(TextAt(review, "spec.token"));
  if (!identity) return {{"authenticated", false}, {"error", "the token is not known"}};
  return {{"authenticated", true}, {"user", UserInfo(*identity)}};
}

}  // namespace

Response Review(const Request& request, const Route& route, const World& world) {
  auto review = DecodeObject(request, *route.kind);
  if (!review) return ToResponse(review.error());
  json::object answer = *std::move(review);
  const std::string_view kind = route.kind->kind;
  if (kind == "SelfSubjectAccessReview") {
    answer["status"] = Access(answer, request.identity);
  } else if (kind == "SelfSubjectRulesReview") {
    answer["status"] = Rules(answer, request.identity);
  } else if (kind == "SelfSubjectReview") {
    answer["status"] = {{"userInfo", UserInfo(request.identity)}};
  } else {
    answer["status"] = TokenStatus(answer, world);
    answer.erase("spec");
  }
  json::value& metadata = answer["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  metadata.get_object()["creationTimestamp"] = nullptr;
  return JsonResponse(answer, 201);
}

}  // namespace pondage::api
