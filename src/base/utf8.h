// Which bytes are text at all: UTF-8 (RFC 3629), told from what only looks like it.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace pondage::base {

bool IsUtf8(std::string_view bytes);
// The same text with U+FFFD for each byte that belongs to no character.
std::string ToUtf8(std::string_view bytes);

}  // namespace pondage::base
