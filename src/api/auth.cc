#include "api/auth.h"

#include <fmt/format.h>

#include <algorithm>

namespace pondage::api {

namespace {

bool Holds(const std::vector<std::string>& list, std::string_view what) {
  return std::ranges::any_of(list, [&](const auto& one) { return one == "*" || one == what; });
}

bool Below(std::string_view path, std::string_view root) {
  return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

}  // namespace

bool IsOpen(std::string_view path) {
  return path == "/version" || Below(path, "/healthz") || Below(path, "/livez") ||
         Below(path, "/readyz");
}

Outcome<Identity> Authenticate(std::string_view authorization, const TokenStore& tokens) {
  std::string_view credentials = authorization;
  constexpr std::string_view kScheme = "bearer ";
  const bool bearer =
      credentials.size() > kScheme.size() &&
      std::ranges::equal(credentials.substr(0, kScheme.size()), kScheme,
                         [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
  if (!bearer) return Refuse(Unauthorized());
  credentials.remove_prefix(kScheme.size());
  while (credentials.starts_with(' ')) credentials.remove_prefix(1);
  auto identity = tokens.Find(credentials);
  if (!identity) return Refuse(Unauthorized());
  return *std::move(identity);
}

std::span<const Grant> CommonGrants() {
  static const std::vector<Grant> kGrants = {
      {"", "nodes", {"get", "list", "watch"}},
      {"pondage.dev", "queues", {"get", "list", "watch"}},
      {"scheduling.k8s.io", "priorityclasses", {"get", "list", "watch"}},
      {"apiextensions.k8s.io", "customresourcedefinitions", {"get", "list", "watch"}},
      {"authorization.k8s.io", "selfsubjectaccessreviews", {"create"}},
      {"authorization.k8s.io", "selfsubjectrulesreviews", {"create"}},
      {"authentication.k8s.io", "selfsubjectreviews", {"create"}},
  };
  return kGrants;
}

bool MayAccess(const Identity& identity, const Attributes& asked) {
  if (identity.admin) return true;
  for (const Grant& grant : CommonGrants()) {
    if (grant.group == asked.group && grant.resource == asked.resource &&
        asked.subresource.empty() &&
        std::ranges::find(grant.verbs, asked.verb) != grant.verbs.end()) {
      return true;
    }
  }
  const bool verb = identity.verbs.empty() || Holds(identity.verbs, asked.verb);
  if (asked.group.empty() && asked.resource == "namespaces") {
    return asked.verb == "get" && Holds(identity.namespaces, asked.name);
  }
  if (asked.space.empty()) {  // all namespaces, or cluster scope: only for one that has them all
    const manifest::Kind* kind = manifest::FindKind(asked.group, asked.resource);
    return verb && kind && kind->namespaced && Holds(identity.namespaces, "*");
  }
  return verb && Holds(identity.namespaces, asked.space);
}

bool MayVisit(const Identity& identity, std::string_view path) {
  if (identity.admin || IsOpen(path)) return true;
  if (path == "/metrics") return Holds(identity.namespaces, "*");
  return Below(path, "/api") || Below(path, "/apis") || Below(path, "/openapi") ||
         path == "/pondage/v1/gpus" || path == "/pondage/v1/replicas" || path == "/pondage/v1/info";
}

Outcome<void> Authorize(const Identity& identity, const Route& route, const std::string& selected) {
  Attributes asked{std::string(VerbName(route.verb)),
                   route.group,
                   route.resource,
                   route.subresource,
                   route.space,
                   route.name.empty() ? selected : route.name};
  if (MayAccess(identity, asked)) return {};
  std::string resource = asked.resource;
  if (!asked.subresource.empty()) resource += "/" + asked.subresource;
  const std::string where = asked.space.empty()
                                ? std::string("at the cluster scope")
                                : fmt::format("in the namespace \"{}\"", asked.space);
  manifest::Kind unknown;
  unknown.group = route.group;
  unknown.plural = route.resource;
  return Refuse(
      Forbidden(route.kind ? *route.kind : unknown, route.name,
                fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                            identity.name, asked.verb, resource, asked.group, where)));
}

Outcome<void> AuthorizePath(const Identity& identity, std::string_view method,
                            std::string_view path) {
  if (MayVisit(identity, path)) return {};
  // Which environments there are is for all to know; what is in the list is the administrator's.
  if (path == "/pondage/v1/environments" && method == "GET") return {};
  std::string verb(method);
  std::ranges::transform(verb, verb.begin(), [](unsigned char c) { return std::tolower(c); });
  Problem problem;
  problem.code = 403;
  problem.reason = "Forbidden";
  problem.message =
      fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", identity.name, verb, path);
  return Refuse(std::move(problem));
}

}  // namespace pondage::api
