#include "api/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/media.h"
#include "api/route.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

struct Subresource {
  std::string_view name, group, version, kind;
  std::vector<std::string_view> verbs;
};

struct Group {
  std::string_view name, version;
};

std::vector<const Kind*> Served() {
  std::vector<const Kind*> served;
  for (const Kind& kind : manifest::Kinds()) served.push_back(&kind);
  for (const Kind& kind : Reviews()) {
    if (!manifest::FindKind(kind.group, kind.plural)) served.push_back(&kind);
  }
  return served;
}

std::vector<const Kind*> ServedIn(std::string_view group) {
  auto served = Served();
  std::erase_if(served, [&](const Kind* kind) { return kind->group != group; });
  return served;
}

// All groups but "", as the table first names them.
std::vector<Group> Groups() {
  std::vector<Group> groups;
  for (const Kind* kind : Served()) {
    const bool known =
        std::ranges::any_of(groups, [&](const Group& group) { return group.name == kind->group; });
    if (!kind->group.empty() && !known) groups.push_back({kind->group, kind->version});
  }
  return groups;
}

std::vector<Subresource> SubresourcesOf(const Kind& kind) {
  std::vector<Subresource> subresources;
  if (kind.has_status) {
    subresources.push_back(
        {"status", kind.group, kind.version, kind.kind, {"get", "patch", "update"}});
  }
  if (kind.group.empty() && kind.plural == "pods") {
    subresources.push_back({"log", "", "v1", "Pod", {"get"}});
    subresources.push_back({"exec", "", "v1", "PodExecOptions", {"create", "get"}});
    subresources.push_back({"eviction", "policy", "v1", "Eviction", {"create"}});
  }
  return subresources;
}

std::string GroupVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

template <class List>
json::array Array(const List& list) {
  json::array array;
  for (const std::string_view one : list) array.emplace_back(one);
  return array;
}

json::array Categories(const Kind& kind) {
  json::array categories;
  if (kind.in_all) categories.emplace_back("all");
  return categories;
}

json::object PlainResource(const Kind& kind) {
  json::object resource{{"name", kind.plural},
                        {"singularName", kind.singular},
                        {"namespaced", kind.namespaced},
                        {"kind", kind.kind},
                        {"verbs", Array(kind.verbs)}};
  if (!kind.short_names.empty()) resource["shortNames"] = Array(kind.short_names);
  if (kind.in_all) resource["categories"] = Categories(kind);
  return resource;
}

json::object ResourceList(std::string_view group, std::string_view version) {
  json::array resources;
  for (const Kind* kind : ServedIn(group)) {
    resources.push_back(PlainResource(*kind));
    for (const Subresource& sub : SubresourcesOf(*kind)) {
      json::object resource{{"name", fmt::format("{}/{}", kind->plural, sub.name)},
                            {"singularName", ""},
                            {"namespaced", kind->namespaced},
                            {"kind", sub.kind},
                            {"verbs", Array(sub.verbs)}};
      if (sub.group != kind->group) {
        resource["group"] = sub.group;
        resource["version"] = sub.version;
      }
      resources.push_back(std::move(resource));
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", GroupVersion(group, version)},
          {"resources", std::move(resources)}};
}

json::object GroupObject(const Group& group) {
  const json::object version{{"groupVersion", GroupVersion(group.name, group.version)},
                             {"version", group.version}};
  return {{"name", group.name}, {"versions", json::array{version}}, {"preferredVersion", version}};
}

json::object AggregatedResource(const Kind& kind) {
  json::array subresources;
  for (const Subresource& sub : SubresourcesOf(kind)) {
    subresources.push_back(
        {{"subresource", sub.name},
         {"responseKind", {{"group", sub.group}, {"version", sub.version}, {"kind", sub.kind}}},
         {"verbs", Array(sub.verbs)}});
  }
  json::object resource{
      {"resource", kind.plural},
      {"responseKind", {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}},
      {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
      {"singularResource", kind.singular},
      {"verbs", Array(kind.verbs)}};
  if (!kind.short_names.empty()) resource["shortNames"] = Array(kind.short_names);
  if (kind.in_all) resource["categories"] = Categories(kind);
  if (!subresources.empty()) resource["subresources"] = std::move(subresources);
  return resource;
}

json::object AggregatedGroup(std::string_view group, std::string_view version) {
  json::array resources;
  for (const Kind* kind : ServedIn(group)) resources.push_back(AggregatedResource(*kind));
  json::object metadata;
  if (!group.empty()) metadata["name"] = group;
  return {{"metadata", std::move(metadata)},
          {"versions", json::array{json::object{{"version", version},
                                                {"resources", std::move(resources)},
                                                {"freshness", "Current"}}}}};
}

Response Aggregated(bool core, std::string_view version) {
  json::array items;
  if (core) {
    items.push_back(AggregatedGroup("", "v1"));
  } else {
    for (const Group& group : Groups()) items.push_back(AggregatedGroup(group.name, group.version));
  }
  Response response =
      JsonResponse(json::object{{"kind", "APIGroupDiscoveryList"},
                                {"apiVersion", fmt::format("apidiscovery.k8s.io/{}", version)},
                                {"metadata", json::object()},
                                {"items", std::move(items)}});
  response.content_type =
      fmt::format("application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList", version);
  return response;
}

Response PlainGroups(bool core) {
  if (core) {
    return JsonResponse(json::object{{"kind", "APIVersions"}, {"versions", {"v1"}}});
  }
  json::array groups;
  for (const Group& group : Groups()) groups.push_back(GroupObject(group));
  return JsonResponse(
      json::object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

}  // namespace

std::optional<Response> Discover(const Request& request) {
  const std::string& path = request.path;
  if (path == "/api" || path == "/apis") {
    for (const MediaRange& range : ParseAccept(request.accept)) {
      if (range.Parameter("as") == "APIGroupDiscoveryList" &&
          (range.Parameter("v") == "v2" || range.Parameter("v") == "v2beta1")) {
        return Aggregated(path == "/api", range.Parameter("v"));
      }
      if (range.type == "application/json" || range.type == "*/*") break;
    }
    return PlainGroups(path == "/api");
  }
  if (path == "/api/v1") return JsonResponse(ResourceList("", "v1"));
  for (const Group& group : Groups()) {
    if (path == fmt::format("/apis/{}", group.name)) {
      json::object answer = GroupObject(group);
      json::object full{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
      for (auto& member : answer) full.insert(std::move(member));
      return JsonResponse(full);
    }
    if (path == fmt::format("/apis/{}/{}", group.name, group.version)) {
      return JsonResponse(ResourceList(group.name, group.version));
    }
  }
  return std::nullopt;
}

json::object Version() {
  return {{"major", "1"},
          {"minor", "32"},
          {"gitVersion", "v1.32.4+pondage-" PONDAGE_VERSION},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "gcc"},
          {"platform", "linux/amd64"}};
}

}  // namespace pondage::api
