#include "base/utf8.h"

#include <gtest/gtest.h>

namespace pondage::base {
namespace {

TEST(Utf8, IsToldFromOtherBytes) {
  for (const char* good :
       {"", "a", "\xc3\xa4", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe4\xb8", "\xc3(", "\xff"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
    EXPECT_TRUE(IsUtf8(ToUtf8(bad))) << bad;
  }
}

TEST(Utf8, OnlyBytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(ToUtf8("caf\xe9-\xc3\xa4.ckpt"), "caf\xef\xbf\xbd-\xc3\xa4.ckpt");
  EXPECT_EQ(ToUtf8("\xe4\xb8"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(ToUtf8("\xc3("), "\xef\xbf\xbd(");
}

}  // namespace
}  // namespace pondage::base
