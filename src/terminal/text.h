// Words for lengths of time, moments and sizes, and back: what people type and read.
//
// Pure apart from Moment's local time zone; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"
#include "base/result.h"

namespace pondage::terminal {

// "90", "90s", "10m", "2h", "1d", "1h30m", "1:30:00" (hours first). Negative and empty are refused.
base::Result<base::Millis> ParseLength(std::string_view text);

// "512", "64Mi", "64MiB", "2G", "1.5GiB", any case: the bytes.
base::Result<base::Bytes> ParseSize(std::string_view text);

// A Kubernetes quantity for the same size ("64Gi"), exact.
std::string QuantityOf(base::Bytes size);

// "12s", "3m", "41m", "2h", "3d": one unit, short enough for a column.
std::string ShortAge(base::Millis length);

// "1 min 20 s", "2 h 5 min": for sentences.
std::string LongAge(base::Millis length);

// "3.4 MiB".
std::string SizeText(base::Bytes size);

// "15:20" today, "Dec 3 15:20" on another day; the viewer's time zone.
std::string Moment(base::Instant at, base::Instant now);
std::string ClockText(base::Instant at);  // "14:03:07"

// RFC 3339 in UTC, whole seconds; and back (fractions accepted).
std::string Rfc3339(base::Instant at);
std::optional<base::Instant> ParseRfc3339(std::string_view text);

base::Instant Now();

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);

// One line that a POSIX shell reads back as the same words.
std::string ShellQuote(const std::vector<std::string>& words);

}  // namespace pondage::terminal
