// Waiting until a job is so far.
//
// Called from main's thread; makes one of its own, so that a time limit and Ctrl-C end the wait at
// once.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "base/result.h"
#include "client/client.h"
#include "view/job_view.h"

namespace pondage::session {

// The job once `enough` says so; none: it was deleted. PND-C006 when the limit passed, and after
// Ctrl-C.
base::Result<std::optional<view::JobView>> WaitUntil(
    client::Client& client, const std::string& space, const std::string& name,
    const std::function<bool(const view::JobView&)>& enough, std::optional<base::Millis> limit);

}  // namespace pondage::session
