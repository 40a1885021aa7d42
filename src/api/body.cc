#include "api/body.h"

#include <fmt/format.h>

#include <charconv>

#include "manifest/object.h"
#include "manifest/protobuf.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

Problem UnknownMedia(const Kind& kind) {
  return UnsupportedMedia(fmt::format(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml{}",
      kind.custom ? "" : ", application/vnd.kubernetes.protobuf"));
}

Outcome<json::value> FromYaml(const std::string& body) {
  auto documents = manifest::ParseManifests(body);
  if (!documents) return Refuse(BadRequest("error decoding YAML: " + documents.error().message));
  if (documents->size() != 1) return Refuse(BadRequest("the body must hold one document"));
  return json::value(std::move(documents->front()));
}

}  // namespace

std::string ApiVersionOf(const Kind& kind) {
  return kind.group.empty() ? std::string(kind.version)
                            : fmt::format("{}/{}", kind.group, kind.version);
}

Outcome<json::value> DecodeDocument(const Request& request, const Kind& kind) {
  if (request.body.empty()) return Refuse(BadRequest("the request has no body"));
  if (request.content_type == "application/yaml") return FromYaml(request.body);
  const bool is_protobuf = request.content_type == kProtobuf;
  if (is_protobuf && kind.custom) return Refuse(UnknownMedia(kind));
  if (is_protobuf) {
    auto object = manifest::DecodeProtobuf(request.body, kind.kind);
    if (!object) return Refuse(BadRequest(object.error().message));
    return json::value(*std::move(object));
  }
  if (!request.content_type.empty() && request.content_type != "application/json") {
    return Refuse(UnknownMedia(kind));
  }
  auto document = manifest::ParseJson(request.body);
  if (!document) {
    return Refuse(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind.kind,
                               kind.version, kind.kind, document.error().message)));
  }
  return *std::move(document);
}

Outcome<json::object> DecodeObject(const Request& request, const Kind& kind) {
  auto document = DecodeDocument(request, kind);
  if (!document) return Refuse(document.error());
  if (!document->is_object()) return Refuse(BadRequest("the body is no JSON object"));
  json::object object = std::move(document->get_object());
  const std::string version = ApiVersionOf(kind);
  const auto check = [&](std::string_view key, std::string_view wanted) {
    json::value& value = object[key];
    if (value.is_null()) value = wanted;
    return value.is_string() && std::string_view(value.get_string()) == wanted;
  };
  if (!check("apiVersion", version)) {
    return Refuse(BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    json::serialize(object["apiVersion"]), version)));
  }
  if (!check("kind", kind.kind)) {
    return Refuse(
        BadRequest(fmt::format("the kind in the data ({}) does not match the expected kind ({})",
                               json::serialize(object["kind"]), kind.kind)));
  }
  return object;
}

Outcome<json::object> DecodeDeleteOptions(const Request& request) {
  static const Kind kOptions = [] {
    Kind kind;
    kind.version = "v1";
    kind.kind = "DeleteOptions";
    return kind;
  }();
  if (!request.body.empty()) {
    auto document = DecodeDocument(request, kOptions);
    if (!document) return Refuse(document.error());
    if (!document->is_object()) return Refuse(BadRequest("DeleteOptions are no JSON object"));
    return std::move(document->get_object());
  }
  json::object options;
  if (const std::string grace = request.query.Get("gracePeriodSeconds"); !grace.empty()) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(grace.data(), grace.data() + grace.size(), seconds);
    if (error != std::errc() || end != grace.data() + grace.size()) {
      return Refuse(BadRequest(fmt::format("invalid gracePeriodSeconds: \"{}\"", grace)));
    }
    options["gracePeriodSeconds"] = seconds;
  }
  if (const std::string policy = request.query.Get("propagationPolicy"); !policy.empty()) {
    options["propagationPolicy"] = policy;
  }
  if (request.query.Has("orphanDependents")) {
    options["orphanDependents"] = request.query.Flag("orphanDependents");
  }
  return options;
}

Outcome<bool> DryRun(const Request& request) {
  bool dry = false;
  for (const std::string& value : request.query.All("dryRun")) {
    if (value != "All") {
      return Refuse(Unprocessable(
          fmt::format("dryRun: Unsupported value: \"{}\": supported values: \"All\"", value)));
    }
    dry = true;
  }
  return dry;
}

Outcome<FieldValidation> FieldValidationOf(const Request& request) {
  const std::string value = request.query.Get("fieldValidation");
  if (value.empty() || value == "Warn") return FieldValidation::kWarn;
  if (value == "Strict") return FieldValidation::kStrict;
  if (value == "Ignore") return FieldValidation::kIgnore;
  return Refuse(
      Unprocessable(fmt::format("fieldValidation: Unsupported value: \"{}\": supported "
                                "values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
                                value)));
}

}  // namespace pondage::api
