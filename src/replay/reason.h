// Why a job of a pool waits. Used by the hosts.
#pragma once

#include <optional>
#include <string>

#include "job/status.h"
#include "pool/pool.h"

namespace pondage::replay {

std::optional<job::Reason> ReasonIn(const pool::Pool& pool, const std::string& name);

}  // namespace pondage::replay
