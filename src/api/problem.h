// What the API says when it refuses: the HTTP code, reason and text of a Kubernetes Status.
//
// Values; any thread. The one table from base::Kind to HTTP is in problem.cc.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/response.h"
#include "base/result.h"
#include "job/validate.h"
#include "manifest/kinds.h"

namespace pondage::api {

struct Cause {
  std::string reason;  // "FieldValueRequired"
  std::string message;
  std::string field;
};

struct Problem {
  int code = 500;
  std::string reason = "InternalError";
  std::string message;
  // details; `kind` is the plural resource, for Invalid the Kind
  std::string name, group, kind, uid;
  std::vector<Cause> causes;
  std::optional<int> retry_after_s;
};

template <class T>
using Outcome = std::expected<T, Problem>;
[[nodiscard]] inline std::unexpected<Problem> Refuse(Problem problem) {
  return std::unexpected(std::move(problem));
}

std::string Qualified(const manifest::Kind& kind);  // "tfjobs.kubeflow.org", "pods"

Problem BadRequest(std::string message);
Problem Unauthorized();
Problem Forbidden(const manifest::Kind& kind, std::string_view name, std::string_view why);
Problem NotFound(const manifest::Kind& kind, std::string_view name);
Problem NoSuchResource();
Problem MethodNotAllowed();
Problem AlreadyExists(const manifest::Kind& kind, std::string_view name);
Problem Conflict(const manifest::Kind& kind, std::string_view name, std::string_view why);
Problem Moved(const manifest::Kind& kind, std::string_view name);  // "the object has been modified"
Problem Expired(std::string message);
Problem Invalid(const manifest::Kind& kind, std::string_view name,
                const std::vector<job::FieldError>& errors);
Problem Unprocessable(std::string message);
Problem UnsupportedMedia(std::string message);
Problem NotAcceptable();
Problem Unavailable(std::string message);

// What the store, the writer or admission refused about the object.
Problem FromError(const base::Error& error, const manifest::Kind& kind, std::string_view name);

boost::json::object StatusObject(const Problem& problem);
Response ToResponse(const Problem& problem);
// Status Success about a deleted object.
boost::json::object SuccessStatus(const manifest::Kind& kind, std::string_view name,
                                  std::string_view uid);

Response JsonResponse(const boost::json::value& value, int status = 200);
Response TextResponse(std::string text, int status = 200);

}  // namespace pondage::api
