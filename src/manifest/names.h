// Which texts may be names in Kubernetes.
//
// Pure.
#pragma once

#include <string_view>

namespace pondage::manifest {

bool IsDns1123Label(std::string_view text);      // namespaces, queues; at most 63
bool IsDns1123Subdomain(std::string_view text);  // most objects; at most 253
bool IsDns1035Label(std::string_view text);  // services, TFJobs; at most 63, begins with a letter
bool IsLabelKey(std::string_view text);      // [prefix/]name
bool IsLabelValue(std::string_view text);    // may be empty
bool IsEnvName(std::string_view text);       // printable, without '='
bool IsDataKey(std::string_view text);       // key of a ConfigMap or Secret

}  // namespace pondage::manifest
