// What `kubectl get pods` says about a Pod: ready count, status word, restarts.
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/instant.h"

namespace pondage::api {

std::string PodReady(const boost::json::object& pod);       // "1/2"
std::string PodStatusWord(const boost::json::object& pod);  // "Running", "Completed", "Terminating"
std::string PodRestarts(const boost::json::object& pod, base::Instant now);  // "2 (5m ago)"

}  // namespace pondage::api
