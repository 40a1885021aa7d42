// The entry of one libFuzzer program: PONDAGE_TARGET names its function.

#include <cstddef>
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  pondage::fuzz::PONDAGE_TARGET({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
