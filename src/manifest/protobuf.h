// Kubernetes' protobuf request bodies as JSON objects.
//
// Pure. Only reads: answers are always JSON. The numbers of fields are in
// field_table.cc.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "base/result.h"

namespace pondage::manifest {

// The envelope and the object in it, with its apiVersion and kind. `kind` is used where the
// envelope names none. Bytes that are no message, and kinds without a table, are kInvalid.
base::Result<boost::json::object> DecodeProtobuf(std::string_view bytes,
                                                 std::string_view kind = "");

}  // namespace pondage::manifest
