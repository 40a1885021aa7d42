#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace pondage::base {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(Kind::kInvalid, "PND-J001", "number", "is odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  TRY(const int half, Half(number));
  TRY(const int quarter, Half(half));
  return quarter;
}

Result<void> IsEven(int number) {
  TRY_DO(Half(number));
  return {};
}

Result<std::unique_ptr<int>> Owned(int number) {
  TRY(auto owned, Result<std::unique_ptr<int>>(std::make_unique<int>(number)));
  return owned;
}

TEST(Result, TryHandsOnTheFirstError) {
  EXPECT_EQ(Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error(), (Error{Kind::kInvalid, "PND-J001", "number", "is odd"}));
  EXPECT_TRUE(IsEven(2));
  EXPECT_FALSE(IsEven(3));
  EXPECT_EQ(**Owned(7), 7) << "values that can only be moved pass through";
}

}  // namespace
}  // namespace pondage::base
