// What looks at paths of submitters keeps nobody waiting.
#include "cmd/admission.h"

#include <gtest/gtest.h>

#include <future>

namespace pondage::cmd {
namespace {

using std::chrono::milliseconds;

base::Result<void> No() {
  return base::Fail(base::Kind::kInvalid, "PND-E003", "", "no Python there");
}

TEST(Admission, SaysWhatTheLookSays) {
  Admission admission(nullptr, milliseconds(3'600'000));
  EXPECT_TRUE(admission.InTime([]() -> base::Result<void> { return {}; }));
  const auto refused = admission.InTime(No);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "PND-E003");
}

// Forty looks hang; the job is taken, and so is each that comes then; one that gets on is heard.
TEST(Admission, TakesWhatCannotBeLookedAt) {
  Admission admission(nullptr, milliseconds(50));
  std::promise<void> answers;
  const std::shared_future<void> away = answers.get_future().share();
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(admission.InTime([away]() -> base::Result<void> {
      away.wait();
      return No();
    }));
  }
  answers.set_value();
  // Whatever those that hung say now concerns nobody, and looks are heard again.
  while (admission.InTime(No)) {
  }
}

}  // namespace
}  // namespace pondage::cmd
