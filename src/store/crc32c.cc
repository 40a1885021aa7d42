#include "store/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace pondage::store {

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

namespace internal {
namespace {

// Row r of the table advances a byte that stands r places before the end of a group of eight.
using Table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Table MakeTable() {
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78U : 0U);
    table[0][byte] = sum;
  }
  for (std::size_t row = 1; row < table.size(); ++row) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = table[row - 1][byte];
      table[row][byte] = (before >> 8) ^ table[0][before & 0xff];
    }
  }
  return table;
}

constexpr Table kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t ExtendByInstruction(std::uint32_t state,
                                                                    const unsigned char* bytes,
                                                                    std::size_t size) {
  std::uint64_t wide = state;
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; size > 0; --size, ++bytes) state = __builtin_ia32_crc32qi(state, *bytes);
  return state;
}
#endif

}  // namespace

std::uint32_t ExtendByTable(std::uint32_t state, const unsigned char* bytes, std::size_t size) {
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    word ^= state;
    state = 0;
    for (std::size_t place = 0; place < 8; ++place) {
      state ^= kTable[7 - place][(word >> (8 * place)) & 0xff];
    }
  }
  for (; size > 0; --size, ++bytes) state = (state >> 8) ^ kTable[0][(state ^ *bytes) & 0xff];
  return state;
}

std::uint32_t Extend(std::uint32_t state, const unsigned char* bytes, std::size_t size) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ExtendByInstruction(state, bytes, size);
#endif
  return ExtendByTable(state, bytes, size);
}

}  // namespace internal

void Crc32c::AddRaw(const void* bytes, std::size_t size) {
  state_ = internal::Extend(state_, static_cast<const unsigned char*>(bytes), size);
}

void Crc32c::Add(std::int64_t number) {
  AddRaw(&number, sizeof number);
}

void Crc32c::Add(std::string_view bytes) {
  Add(static_cast<std::int64_t>(bytes.size()));
  AddRaw(bytes.data(), bytes.size());
}

}  // namespace pondage::store
