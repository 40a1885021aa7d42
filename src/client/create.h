// Making an object exactly once, whatever becomes of the connection meanwhile.
//
// One call, one thread. A request that was sent may have been carried out though its answer was
// lost: so it is given again, and the object that is there then is known by a mark of this call.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "client/client.h"

namespace pondage::client {

// The annotation that tells whose doing an object is.
inline constexpr std::string_view kRequestId = "pondage.dev/request-id";

struct Creation {
  base::Result<void> outcome;
  bool may_exist = false;  // PND-C023: the server may have made it all the same
};

// POST of `object`, which has a name, to `collection`. `patience`: how long a server that was lost
// in the middle of it is asked again.
Creation Create(Client& client, const std::string& collection, json::object object,
                std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace pondage::client
