// Taking secrets out of objects before a person passes them on.
//
// Pure; any thread.
#pragma once

#include "client/json.h"

namespace pondage::view {

namespace json = boost::json;

// The value without: values of environment variables (TF_CONFIG stays), data of Secrets, members
// whose name speaks of a token, password, secret or key, last-applied annotations, managedFields.
json::value Redacted(const json::value& value);

}  // namespace pondage::view
