#include "manifest/use.h"

#include <gtest/gtest.h>

namespace pondage::manifest {
namespace {

TEST(Uses, WhatIsSavedIsLoaded) {
  const std::map<std::string, queue::Use> users{
      {"", {.value = 7, .rate = {}, .at = {1'700'000'000'123}}},
      {"eva@lab", {.value = 9'000'000'000'000'000'000, .rate = {}, .at = {0}}}};
  const auto back = DecodeUses(boost::json::serialize(EncodeUses("lab", users)));
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 2u);
  for (const queue::Tree::UseOf& use : *back) {
    EXPECT_EQ(use.queue, "lab");
    EXPECT_EQ(use.use, users.at(use.user));
  }
}

TEST(Planned, WhatIsSavedIsLoaded) {
  const auto back = DecodePlanned(boost::json::serialize(EncodePlanned({1'700'000'000'123})));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, base::Instant{1'700'000'000'123});
  EXPECT_FALSE(DecodePlanned(R"({"atMs":"soon"})"));
}

TEST(Uses, NobodyUsedLessThanNothing) {
  EXPECT_FALSE(DecodeUses(R"({"metadata":{"name":"lab"},"users":[{"milliGpuMillis":-1}]})"));
  EXPECT_FALSE(DecodeUses("{"));
}

}  // namespace
}  // namespace pondage::manifest
