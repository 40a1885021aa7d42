// Assertions that stay on in release: what a function requires, what it promises.
//
// They are for our own mistakes; the world's are base::Result. A failed one ends the process at
// once, since state that broke an invariant must not be committed.
#pragma once

namespace pondage::base {
[[noreturn]] void AssertionFailed(const char* what, const char* expression, const char* file,
                                  int line);
}

#define REQUIRE(condition)            \
  ((condition) ? static_cast<void>(0) \
               : ::pondage::base::AssertionFailed("required", #condition, __FILE__, __LINE__))
#define PROMISE(condition)            \
  ((condition) ? static_cast<void>(0) \
               : ::pondage::base::AssertionFailed("promised", #condition, __FILE__, __LINE__))
