#include <fmt/format.h>

#include "api/discovery.h"
#include "api/media.h"
#include "api/route.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

// The smallest document of OpenAPI v2 that kubectl's decoder takes: swagger "2.0", info
// {fake, 1.0.0} and no paths.
constexpr std::string_view kVersion2(
    "\x0a\x03"
    "2.0"
    "\x12\x0d\x0a\x04"
    "fake"
    "\x12\x05"
    "1.0.0"
    "\x42\x00",
    22);

std::string GroupVersionPath(const Kind& kind) {
  return kind.group.empty() ? fmt::format("api/{}", kind.version)
                            : fmt::format("apis/{}/{}", kind.group, kind.version);
}

json::object Parameter(std::string_view name) {
  return {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}};
}

// Without a requestBody on purpose: kubectl would merge by the served schema where it sees one, and
// a schema without merge keys corrupts lists.
json::object PatchOperation(const Kind& kind) {
  return {{"description", fmt::format("partially update the specified {}", kind.kind)},
          {"operationId", fmt::format("patch{}", kind.kind)},
          {"parameters", json::array{Parameter("dryRun"), Parameter("fieldManager"),
                                     Parameter("fieldValidation"), Parameter("force")}},
          {"responses", {{"200", {{"description", "OK"}}}}},
          {"x-kubernetes-action", "patch"},
          {"x-kubernetes-group-version-kind",
           {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}}};
}

std::string SchemaName(const Kind& kind) {
  return fmt::format("dev.pondage.{}.{}.{}", kind.group.empty() ? "core" : kind.group, kind.version,
                     kind.kind);
}

json::object Schema(const Kind& kind) {
  return {{"description", fmt::format("{} as stored by this server.", kind.kind)},
          {"type", "object"},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", {{"type", "object"}}},
            {"spec", {{"type", "object"}}},
            {"status", {{"type", "object"}}}}},
          {"x-kubernetes-group-version-kind",
           json::array{json::object{
               {"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}}}};
}

json::object Document(std::string_view group_version) {
  json::object paths, schemas;
  for (const Kind& kind : manifest::Kinds()) {
    if (GroupVersionPath(kind) != group_version) continue;
    const std::string path =
        fmt::format("/{}/{}{}/{{name}}", group_version,
                    kind.namespaced ? "namespaces/{namespace}/" : "", kind.plural);
    paths[path] = json::object{{"patch", PatchOperation(kind)}};
    schemas[SchemaName(kind)] = Schema(kind);
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Pondage"}, {"version", PONDAGE_VERSION}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

json::object Index() {
  json::object paths;
  for (const Kind& kind : manifest::Kinds()) {
    const std::string path = GroupVersionPath(kind);
    paths[path] = json::object{
        {"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", path, PONDAGE_VERSION)}};
  }
  return {{"paths", std::move(paths)}};
}

}  // namespace

std::optional<Response> OpenApi(const Request& request) {
  const std::string_view path = request.path;
  if (path == "/openapi/v2") {
    for (const MediaRange& range : ParseAccept(request.accept)) {
      if (range.type == "application/com.github.proto-openapi.spec.v2@v1.0+protobuf") {
        Response response;
        // Not as it is asked for: Go's parser of media types takes no '@'.
        response.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        response.body = kVersion2;
        return response;
      }
    }
    return JsonResponse(json::object{{"swagger", "2.0"},
                                     {"info", {{"title", "fake"}, {"version", "1.0.0"}}},
                                     {"paths", json::object()}});
  }
  if (path == "/openapi/v3") return JsonResponse(Index());
  constexpr std::string_view kRoot = "/openapi/v3/";
  if (!path.starts_with(kRoot)) return std::nullopt;
  json::object document = Document(path.substr(kRoot.size()));
  if (document["paths"].as_object().empty()) return std::nullopt;
  return JsonResponse(document);
}

}  // namespace pondage::api
