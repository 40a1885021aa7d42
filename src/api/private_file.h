// Small files that only their owner may read: replaced whole and durable, or left as they were.
//
// Any thread; two writers of one path are the caller's to keep apart.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pondage::api {

base::Result<std::string> ReadFile(const std::string& path);  // kNotFound, kUnavailable
base::Result<void> WritePrivateFile(const std::string& path, std::string_view bytes);

}  // namespace pondage::api
