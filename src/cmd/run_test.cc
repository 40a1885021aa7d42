// What `run` leaves on the disk and what the server looks for there are one name.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/work_copies.h"
#include "base/test_directory.h"
#include "client/manifest_file.h"
#include "submission/work_copy.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

class RunCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "src");
    std::ofstream(root_ / "src/train.py") << "pass\n";
  }

  std::vector<std::string> Copies() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / "work"))
      names.push_back(entry.path().string());
    return names;
  }

  const base::TestDirectory place_;
  const fs::path root_ = place_.path();
};

TEST_F(RunCopy, IsTheJobsUnderWhateverNameItIsAccepted) {
  struct Row {
    const char* says;
    int taken;
    bool chosen;
    const char* name;  // empty: it is not accepted
  };
  const Row rows[] = {{"the first name", 0, false, "train-7"},
                      {"names that others took at the same moment", 2, false, "train-9"},
                      {"a name that was asked for is not changed", 1, true, ""},
                      {"not for ever", 1'000, false, ""}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.says);
    std::string accepted;
    std::string sent;  // the directory that the accepted job names
    {
      auto plan = submission::PlanCopy((root_ / "src").string(), base::Bytes{1 << 20});
      ASSERT_TRUE(plan);
      submission::WorkCopy copy((root_ / "work").string(), "ml", *std::move(plan));
      int left = row.taken;
      const auto offer = [&](const std::string& name) -> base::Result<void> {
        TRY_DO(copy.BelongTo(name));
        sent = copy.PathFor(name);
        EXPECT_TRUE(fs::exists(sent + "/train.py"));
        if (left-- > 0) return base::Fail(base::Kind::kAlreadyExists, "", name, "taken");
        return {};
      };
      const auto name = client::UnderFreeName("train-7", row.chosen, offer);
      ASSERT_EQ(name.has_value(), *row.name != '\0');
      if (name) copy.Keep();
      accepted = name.value_or("");
    }
    EXPECT_EQ(accepted, row.name);
    if (accepted.empty()) {
      EXPECT_TRUE(Copies().empty()) << "no job uses it";
      continue;
    }
    EXPECT_EQ(Copies(), std::vector{sent}) << "one copy, where the job looks for it";
    const agent::WorkCopies server(root_.string());
    EXPECT_TRUE(server.Belongs(sent, "ml", accepted));
    fs::remove_all(sent);
  }
}

}  // namespace
}  // namespace pondage::cmd
