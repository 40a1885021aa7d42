#include "manifest/data.h"

#include <gtest/gtest.h>

namespace pondage::manifest {
namespace {

using Data = std::map<std::string, std::string>;

TEST(Base64, IsReadAsRfc4648SaysIt) {
  struct Row {
    std::string_view text, bytes;
  };
  constexpr Row kRows[] = {{"", ""},
                           {"Zg==", "f"},
                           {"Zm8=", "fo"},
                           {"Zm9v", "foo"},
                           {"Zm9vYg==", "foob"},
                           {"Zm9vYmE=", "fooba"},
                           {"Zm9vYmFy", "foobar"},
                           {"+/+/", "\xfb\xff\xbf"}};
  for (const Row& row : kRows) {
    EXPECT_EQ(FromBase64(row.text), row.bytes) << row.text;
    EXPECT_EQ(ToBase64(row.bytes), row.text);
  }
  for (const char* wrong : {"Zg", "Zg=", "Z===", "Zm9v\n", "Zm 9", "====", "Zg==Zg=="}) {
    EXPECT_TRUE(FromBase64(wrong).value_or("").empty()) << wrong;
  }
}

TEST(DataOfObject, GivesBytesByKey) {
  EXPECT_EQ(DataOfObject(R"({"kind":"ConfigMap","data":{"a":"x"},"binaryData":{"b":"Zm9v"}})"),
            (Data{{"a", "x"}, {"b", "foo"}}));
  EXPECT_EQ(DataOfObject(R"({"kind":"Secret","data":{"a":"Zm9v"}})"), (Data{{"a", "foo"}}));
  EXPECT_EQ(DataOfObject(R"({"kind":"Secret"})"), Data{});
  EXPECT_EQ(DataOfObject(R"({"kind":"Secret","data":{"a":"!"}})"), std::nullopt);
  EXPECT_EQ(DataOfObject("[]"), std::nullopt);
}

}  // namespace
}  // namespace pondage::manifest
