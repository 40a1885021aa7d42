// Bodies of requests as JSON: JSON, YAML, or protobuf for the kinds that clients send it for.
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>

#include "api/problem.h"
#include "api/request.h"
#include "manifest/kinds.h"

namespace pondage::api {

// Any one document.
Outcome<boost::json::value> DecodeDocument(const Request& request, const manifest::Kind& kind);
// An object of that kind, with kind and apiVersion filled in and checked.
Outcome<boost::json::object> DecodeObject(const Request& request, const manifest::Kind& kind);
// DeleteOptions of a body, else of the query.
Outcome<boost::json::object> DecodeDeleteOptions(const Request& request);

// True for dryRun=All; 422 for anything else that is not absent.
Outcome<bool> DryRun(const Request& request);

enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };
Outcome<FieldValidation> FieldValidationOf(const Request& request);

std::string ApiVersionOf(const manifest::Kind& kind);  // "kubeflow.org/v1", "v1"

}  // namespace pondage::api
