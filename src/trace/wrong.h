// How a reader of this room gives up: thrown where the trouble is seen, caught at the room's wall.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace pondage::trace {

struct Wrong {
  std::string message;
};

template <class... Args>
[[noreturn]] void GiveUp(fmt::format_string<Args...> format, Args&&... args) {
  throw Wrong{fmt::format(format, std::forward<Args>(args)...)};
}

// The value of `read`, or the Wrong it threw as an error about `object`.
template <class Read>
auto Guard(const std::string& object, Read read) -> base::Result<decltype(read())> {
  try {
    return read();
  } catch (const Wrong& wrong) {
    return base::Fail(base::Kind::kInvalid, "", object, wrong.message);
  }
}

}  // namespace pondage::trace
