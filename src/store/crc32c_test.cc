#include "store/crc32c.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace pondage::store {
namespace {

std::uint32_t Raw(std::string_view bytes) {
  Crc32c sum;
  sum.AddRaw(bytes.data(), bytes.size());
  return sum.Value();
}

// Check values of RFC 3720, B.4.
TEST(Crc32c, IsTheStandardOne) {
  EXPECT_EQ(Raw("123456789"), 0xe3069283u);
  EXPECT_EQ(Raw(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Raw(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32c, InstructionAndTableAgree) {
  base::Random random(3);
  for (std::size_t size = 0; size < 300; ++size) {
    std::vector<unsigned char> bytes(size);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.Next());
    const auto start = static_cast<std::uint32_t>(random.Next());
    EXPECT_EQ(internal::Extend(start, bytes.data(), size),
              internal::ExtendByTable(start, bytes.data(), size));
  }
}

TEST(Crc32c, BytesCannotMoveBetweenFields) {
  Crc32c one;
  one.Add("ab");
  one.Add("c");
  Crc32c other;
  other.Add("a");
  other.Add("bc");
  EXPECT_NE(one.Value(), other.Value());
}

}  // namespace
}  // namespace pondage::store
