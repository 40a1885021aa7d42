#include "api/problem.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace pondage::api {

namespace json = boost::json;
using base::Kind;

namespace {

Problem About(int code, std::string reason, std::string message, const manifest::Kind& kind,
              std::string_view name) {
  Problem problem;
  problem.code = code;
  problem.reason = std::move(reason);
  problem.message = std::move(message);
  problem.name = name;
  problem.group = kind.group;
  problem.kind = kind.plural;
  return problem;
}

Problem Bare(int code, std::string reason, std::string message) {
  Problem problem;
  problem.code = code;
  problem.reason = std::move(reason);
  problem.message = std::move(message);
  return problem;
}

std::string CauseReason(job::FieldErrorKind kind) {
  switch (kind) {
    case job::FieldErrorKind::kRequired:
      return "FieldValueRequired";
    case job::FieldErrorKind::kInvalid:
      return "FieldValueInvalid";
    case job::FieldErrorKind::kNotSupported:
      return "FieldValueNotSupported";
    case job::FieldErrorKind::kForbidden:
      return "FieldValueForbidden";
    case job::FieldErrorKind::kDuplicate:
      return "FieldValueDuplicate";
    case job::FieldErrorKind::kTooLong:
      return "FieldValueTooLong";
  }
  return "FieldValueInvalid";
}

struct Row {
  Kind kind;
  int code;
  const char* reason;
};
constexpr Row kRows[] = {
    {Kind::kNotFound, 404, "NotFound"},
    {Kind::kAlreadyExists, 409, "AlreadyExists"},
    {Kind::kConflict, 409, "Conflict"},
    {Kind::kExpired, 410, "Expired"},
    {Kind::kInvalid, 422, "Invalid"},
    {Kind::kForbidden, 403, "Forbidden"},
    {Kind::kUnavailable, 503, "ServiceUnavailable"},
    {Kind::kCorrupt, 500, "InternalError"},
};

const Row& RowOf(Kind kind) {
  for (const Row& row : kRows) {
    if (row.kind == kind) return row;
  }
  return kRows[7];
}

}  // namespace

std::string Qualified(const manifest::Kind& kind) {
  return kind.group.empty() ? std::string(kind.plural)
                            : fmt::format("{}.{}", kind.plural, kind.group);
}

Problem BadRequest(std::string message) {
  return Bare(400, "BadRequest", std::move(message));
}

Problem Unauthorized() {
  return Bare(401, "Unauthorized", "Unauthorized");
}

Problem Forbidden(const manifest::Kind& kind, std::string_view name, std::string_view why) {
  std::string what = Qualified(kind);
  if (!name.empty()) what += fmt::format(" \"{}\"", name);
  return About(403, "Forbidden", fmt::format("{} is forbidden: {}", what, why), kind, name);
}

Problem NotFound(const manifest::Kind& kind, std::string_view name) {
  return About(404, "NotFound", fmt::format("{} \"{}\" not found", Qualified(kind), name), kind,
               name);
}

Problem NoSuchResource() {
  return Bare(404, "NotFound", "the server could not find the requested resource");
}

Problem MethodNotAllowed() {
  return Bare(405, "MethodNotAllowed",
              "the server does not allow this method on the requested resource");
}

Problem AlreadyExists(const manifest::Kind& kind, std::string_view name) {
  return About(409, "AlreadyExists", fmt::format("{} \"{}\" already exists", Qualified(kind), name),
               kind, name);
}

Problem Conflict(const manifest::Kind& kind, std::string_view name, std::string_view why) {
  return About(
      409, "Conflict",
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", Qualified(kind), name, why),
      kind, name);
}

Problem Moved(const manifest::Kind& kind, std::string_view name) {
  return Conflict(
      kind, name,
      "the object has been modified; please apply your changes to the latest version and "
      "try again");
}

Problem Expired(std::string message) {
  return Bare(410, "Expired", std::move(message));
}

Problem Invalid(const manifest::Kind& kind, std::string_view name,
                const std::vector<job::FieldError>& errors) {
  std::string list;
  for (const auto& error : errors) {
    if (!list.empty()) list += ", ";
    list += error.path.empty() ? error.message : fmt::format("{}: {}", error.path, error.message);
  }
  if (errors.size() > 1) list = "[" + list + "]";
  const std::string what =
      kind.group.empty() ? std::string(kind.kind) : fmt::format("{}.{}", kind.kind, kind.group);
  Problem problem =
      About(422, "Invalid", fmt::format("{} \"{}\" is invalid: {}", what, name, list), kind, name);
  problem.kind = kind.kind;
  for (const auto& error : errors) {
    problem.causes.push_back({CauseReason(error.kind), error.message, error.path});
  }
  return problem;
}

Problem Unprocessable(std::string message) {
  return Bare(422, "Invalid", std::move(message));
}

Problem UnsupportedMedia(std::string message) {
  return Bare(415, "UnsupportedMediaType", std::move(message));
}

Problem NotAcceptable() {
  return Bare(406, "NotAcceptable",
              "only the following media types are accepted: application/json, "
              "application/json;as=Table;v=v1;g=meta.k8s.io, "
              "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
}

Problem Unavailable(std::string message) {
  Problem problem = Bare(503, "ServiceUnavailable", std::move(message));
  problem.retry_after_s = 1;
  return problem;
}

Problem FromError(const base::Error& error, const manifest::Kind& kind, std::string_view name) {
  switch (error.kind) {
    case Kind::kNotFound:
      return NotFound(kind, name);
    case Kind::kAlreadyExists:
      return AlreadyExists(kind, name);
    case Kind::kConflict:
      return Moved(kind, name);
    case Kind::kForbidden:
      return Forbidden(kind, name, error.message);
    default:
      break;
  }
  const Row& row = RowOf(error.kind);
  std::string text = error.object.empty() ? error.message : error.object + ": " + error.message;
  if (!error.id.empty()) text += " (" + error.id + ")";
  Problem problem = About(row.code, row.reason, std::move(text), kind, name);
  if (error.kind == Kind::kUnavailable) problem.retry_after_s = 1;
  return problem;
}

json::object StatusObject(const Problem& problem) {
  json::object details;
  if (!problem.name.empty()) details["name"] = problem.name;
  if (!problem.group.empty()) details["group"] = problem.group;
  if (!problem.kind.empty()) details["kind"] = problem.kind;
  if (!problem.uid.empty()) details["uid"] = problem.uid;
  if (!problem.causes.empty()) {
    json::array causes;
    for (const Cause& cause : problem.causes) {
      json::object one{{"reason", cause.reason}, {"message", cause.message}};
      if (!cause.field.empty()) one["field"] = cause.field;
      causes.push_back(std::move(one));
    }
    details["causes"] = std::move(causes);
  }
  if (problem.retry_after_s) details["retryAfterSeconds"] = *problem.retry_after_s;
  json::object status{{"kind", "Status"},           {"apiVersion", "v1"},
                      {"metadata", json::object()}, {"status", "Failure"},
                      {"message", problem.message}, {"reason", problem.reason}};
  if (!details.empty() || problem.code == 422) status["details"] = std::move(details);
  status["code"] = problem.code;
  return status;
}

Response ToResponse(const Problem& problem) {
  Response response = JsonResponse(StatusObject(problem), problem.code);
  response.body = base::ToUtf8(response.body);  // it may quote whatever bytes were sent
  if (problem.retry_after_s) {
    response.headers.emplace_back("Retry-After", std::to_string(*problem.retry_after_s));
  }
  if (problem.code == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

json::object SuccessStatus(const manifest::Kind& kind, std::string_view name,
                           std::string_view uid) {
  json::object details{{"name", name}};
  if (!kind.group.empty()) details["group"] = kind.group;
  details["kind"] = kind.plural;
  if (!uid.empty()) details["uid"] = uid;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"status", "Success"},
          {"details", std::move(details)}};
}

Response JsonResponse(const json::value& value, int status) {
  Response response;
  response.status = status;
  response.body = json::serialize(value);
  response.body.push_back('\n');
  return response;
}

Response TextResponse(std::string text, int status) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

}  // namespace pondage::api
