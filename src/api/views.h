// Our own views below /pondage/v1/: GPUs and replicas as last read, and the tokens.
//
// Any thread.
#pragma once

#include "api/request.h"
#include "api/response.h"
#include "api/world.h"

namespace pondage::api {

// GET gpus, GET replicas, GET and POST tokens, DELETE tokens/NAME.
Response View(const Request& request, const World& world);

}  // namespace pondage::api
