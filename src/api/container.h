// The containers of a stored Pod: which one a client means, and how it is.
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/problem.h"
#include "api/request.h"

namespace pondage::api {

// The one that `container=` names, else the Pod's default or only one.
Outcome<std::string> ContainerOf(const Request& request, const boost::json::object& pod,
                                 const std::string& pod_name);
// Its entry of status.containerStatuses; null: none.
const boost::json::object* StatusOf(const boost::json::object& pod, const std::string& container);

}  // namespace pondage::api
