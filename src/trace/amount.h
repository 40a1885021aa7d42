// Numbers as traces and people write them, exactly: "66.0" seconds, "1h30m", "512Gi".
//
// Pure. Each gives none for what it does not understand and for what does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/instant.h"
#include "base/quantity.h"

namespace pondage::trace {

// "12", "-3".
std::optional<std::int64_t> Whole(std::string_view text);

// A decimal number times `scale`, a half rounded away from zero: Decimal("1.2345", 1000) is 1235...
// digits beyond what int64 needs are only rounded. Also "1.5e3".
std::optional<std::int64_t> Decimal(std::string_view text, std::int64_t scale);

// "90s", "1h30m", "2d", "1.5h", "500ms"; never negative.
std::optional<base::Millis> Length(std::string_view text);

// "64Gi", "512MB", "1024".
std::optional<base::Bytes> Size(std::string_view text);

// "2017-10-09 07:01:55", "2017-10-09T07:01:55", "2017-10-09"; read as UTC.
std::optional<base::Instant> Moment(std::string_view text);

// Slurm's "[days-]hours:minutes:seconds", also "minutes:seconds".
std::optional<base::Millis> SlurmLength(std::string_view text);

}  // namespace pondage::trace
