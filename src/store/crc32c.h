// CRC-32C (Castagnoli), the checksum of stored rows and pages.
//
// Chosen over a 64-bit hash since it finds every burst of up to 32 bits, is a standard that any
// tool can recompute, and is one instruction on x86. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pondage::store {

class Crc32c {
 public:
  // Each field is taken with its length, so that bytes cannot move between fields unseen.
  void Add(std::string_view bytes);
  void Add(std::int64_t number);

  // The bytes alone.
  void AddRaw(const void* bytes, std::size_t size);

  std::uint32_t Value() const { return ~state_; }

 private:
  std::uint32_t state_ = ~std::uint32_t{0};
};

namespace internal {
// The same sum without the instruction, for machines that lack it and for the test.
std::uint32_t ExtendByTable(std::uint32_t state, const unsigned char* bytes, std::size_t size);
std::uint32_t Extend(std::uint32_t state, const unsigned char* bytes, std::size_t size);
}  // namespace internal

}  // namespace pondage::store
