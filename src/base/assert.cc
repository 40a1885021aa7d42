#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace pondage::base {

void AssertionFailed(const char* what, const char* expression, const char* file, int line) {
  std::fprintf(stderr, "pondage: %s: %s (%s:%d)\n", what, expression, file, line);
  std::abort();
}

}  // namespace pondage::base
