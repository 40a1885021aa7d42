// Field validation of a write: unknown fields are refused, told or dropped as the client asks;
// values of a wrong type are always refused.
//
// Pure, over manifest's table of fields.
#pragma once

#include <boost/json.hpp>

#include "api/admit.h"
#include "api/body.h"
#include "api/problem.h"

namespace pondage::api {

// `old`: the stored object when this is an update; what it already holds is nobody's fault. Unknown
// fields go from `object`.
Outcome<Warnings> CheckFields(const manifest::Kind& kind, boost::json::object& object,
                              const boost::json::object* old, FieldValidation validation,
                              bool is_patch);

}  // namespace pondage::api
