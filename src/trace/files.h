// Named bytes: how readers get at the files of a trace. Compressed ones (gzip) come out plain.
//
// A reader is a function of bytes; `Disk` is the only thing in this room that touches the world.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pondage::trace {

using Files = std::function<base::Result<std::string>(const std::string& path)>;

// Files of this machine, relative to `folder`; where `path` is not there, `path` + ".gz" is read.
Files Disk(std::string folder);

// At most this much comes out of one file, compressed or not.
constexpr std::size_t kLargestFile = std::size_t{1} << 30;

// Plain bytes; what does not begin like gzip comes back as it is.
base::Result<std::string> Unzip(std::string_view bytes, std::size_t at_most = kLargestFile);

}  // namespace pondage::trace
