// Small files of the shim: whole reads with a bound, replacement that survives a crash.
//
// Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pondage::shim {

// None when it cannot be read or is longer than `limit`.
std::optional<std::string> ReadFile(const std::string& path, std::size_t limit);

// Readers see the old content or the new one, through any crash.
bool ReplaceFile(const std::string& path, std::string_view bytes, bool durable = true);

std::string BootId();

// The number behind `oom_kill` in a control group's file; 0 when there is none.
std::int64_t OomKills(const std::string& path);

}  // namespace pondage::shim
