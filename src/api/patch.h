// The three patches that clients send: JSON patch (RFC 6902), merge patch (RFC 7386) and the
// strategic merge patch of Kubernetes.
//
// Pure. Depth is bounded by the decoder that made the values (manifest::ParseJson).
#pragma once

#include <boost/json.hpp>

#include "api/problem.h"
#include "manifest/kinds.h"

namespace pondage::api {

// 400: malformed; 413: over 10,000 operations; 422: an operation does not apply.
Outcome<boost::json::value> JsonPatch(boost::json::value target, const boost::json::value& patch);

boost::json::value MergePatch(boost::json::value target, const boost::json::value& patch);

// 400: a directive that is none.
Outcome<boost::json::object> StrategicMerge(const manifest::Kind& kind, boost::json::object target,
                                            const boost::json::object& patch);

}  // namespace pondage::api
