// A ledger entry as the line that is kept of it for ever.
//
// Pure. Fields are only ever added.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ledger/ledger.h"

namespace pondage::manifest {

std::string EncodeCharge(const ledger::Entry& entry);
base::Result<ledger::Entry> DecodeCharge(std::string_view line);

}  // namespace pondage::manifest
