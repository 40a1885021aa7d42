#include "submission/work_copy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/test_directory.h"
#include "client/kubeconfig.h"

namespace pondage::submission {
namespace {

namespace fs = std::filesystem;

class WorkCopy : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "src"); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / "src" / path).parent_path());
    std::ofstream(root_ / "src" / path) << text;
  }
  std::string Source() const { return (root_ / "src").string(); }

  const base::TestDirectory place_;
  const fs::path root_ = place_.path();
};

TEST(Ignore, PatternsAsInGitignore) {
  struct Row {
    std::string_view says, patterns, path;
    bool directory, want;
  };
  const Row rows[] = {
      {"a name anywhere", "data", "a/b/data", false, true},
      {"a name is not a part of a name", "data", "mydata", false, false},
      {"a star", "*.ckpt", "a/x.ckpt", false, true},
      {"a star stops at a slash", "a/*.ckpt", "a/b/x.ckpt", false, false},
      {"two stars do not", "a/**/x", "a/b/c/x", false, true},
      {"two stars may stand for nothing", "a/**/x", "a/x", false, true},
      {"at the top only", "/data", "a/data", false, false},
      {"at the top", "/data", "data", false, true},
      {"directories only", "out/", "out", false, false},
      {"a directory", "out/", "out", true, true},
      {"taken back", "*.npz\n!keep.npz", "keep.npz", false, false},
      {"a question mark", "x?.py", "x1.py", false, true},
      {"a class", "x[0-9].py", "x7.py", false, true},
      {"not in a class", "x[!0-9].py", "x7.py", false, false},
      {"a comment", "# data", "data", false, false},
      {"an escape", "\\#x", "#x", false, true},
      {"a bracket that does not close", "a[b", "a[b", false, true},
      {"built in", "", ".git", true, true},
      {"built in, and taken back", "!.git/", ".git", true, false},
      {"many stars end in time", "*a*a*a*a*a*a*a*a*a*a*a*b",
       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false, false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(Ignore(row.patterns).Ignores(row.path, row.directory), row.want) << row.says;
}

TEST_F(WorkCopy, CopiesWhatBelongsToIt) {
  Write("train.py", "print(1)");
  Write("pkg/a.py", "x");
  Write("data/big.npz", "0123456789");
  Write(".git/config", "x");
  Write("venv/pyvenv.cfg", "x");
  Write("venv/lib/y.py", "x");
  Write("pool/pondage.sqlite", "x");
  Write("pool/admin.token", "secret");
  Write(".pondageignore", "data/\n");
  fs::create_symlink("train.py", root_ / "src/link.py");
  fs::permissions(root_ / "src/train.py", fs::perms::owner_all);
  const auto plan = PlanCopy(Source(), {1000});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->files, (std::vector<std::string>{"link.py", "pkg/a.py", "train.py"}));
  EXPECT_EQ(plan->size.value, 9);
  const std::string target = (root_ / "work/train-1").string();
  const auto made = MakeCopy(*plan, target);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(client::ReadWholeFile(target + "/pkg/a.py"), "x");
  EXPECT_TRUE(fs::is_symlink(target + "/link.py"));
  EXPECT_FALSE(fs::exists(target + "/data"));
  EXPECT_FALSE(fs::exists(target + "/venv"));
  struct stat facts = {};
  ASSERT_EQ(stat((target + "/train.py").c_str(), &facts), 0);
  EXPECT_NE(facts.st_mode & S_IXUSR, 0u) << "what may be executed stays so";
  ASSERT_EQ(stat(target.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 077u, 0u) << "nobody else may look into it";
}

// A link means in the copy what it meant where it was made.
TEST_F(WorkCopy, LinksLeadWhereTheyLed) {
  Write("train.py", "x");
  Write("pkg/a.py", "y");
  fs::create_directories(root_ / "datasets");
  std::ofstream(root_ / "datasets/digits") << "digits";
  fs::create_symlink("../datasets", root_ / "src/data");
  fs::create_symlink("../../datasets/digits", root_ / "src/pkg/digits");
  fs::create_symlink("../train.py", root_ / "src/pkg/main.py");
  fs::create_symlink(root_ / "src/train.py", root_ / "src/pkg/whole.py");
  fs::create_symlink("nowhere", root_ / "src/broken");
  const auto plan = PlanCopy(Source(), {1000});
  ASSERT_TRUE(plan) << plan.error().message;
  const fs::path target = root_ / "work/deeper/than/it/was";
  ASSERT_TRUE(MakeCopy(*plan, target.string()));
  EXPECT_EQ(client::ReadWholeFile((target / "data/digits").string()), "digits");
  EXPECT_EQ(client::ReadWholeFile((target / "pkg/digits").string()), "digits");
  EXPECT_EQ(fs::read_symlink(target / "pkg/main.py"), "../train.py");
  EXPECT_EQ(fs::canonical(target / "pkg/whole.py"), fs::canonical(target / "train.py"))
      << "later edits of the original do not reach the copy";
  EXPECT_EQ(fs::read_symlink(target / "broken"), "nowhere");
}

TEST_F(WorkCopy, WhatIsNoFileIsNamed) {
  Write("a.py", "x");
  ASSERT_EQ(mkfifo((Source() + "/pipe").c_str(), 0600), 0);
  const auto plan = PlanCopy(Source(), {1000});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->files, std::vector<std::string>{"a.py"});
  EXPECT_EQ(plan->left_out, std::vector<std::string>{"pipe"});
}

TEST_F(WorkCopy, ACopyIsCopiedFromBelowAPool) {
  Write("pondage.sqlite", "x");
  Write("old/ml.a-xyz/train.py", "x");
  const auto plan = PlanCopyOfCopy(Source() + "/old/ml.a-xyz", {1000});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->files, std::vector<std::string>{"train.py"});
}

TEST(MoveJob, ChangesEveryPlaceInsideTheCopyAndNoOther) {
  const auto job = [](const std::string& copy) {
    const std::string text = R"({"metadata":{"annotations":{
      "pondage.dev/workdir":"COPY","pondage.dev/checkpoint-dir":"COPY/ckpt","note":"COPY"}},
      "spec":{"tfReplicaSpecs":{
        "Chief":{"template":{"spec":{"containers":[{"workingDir":"COPY"},{"name":"b"}]}}},
        "PS":{"template":{}},
        "Worker":{"template":{"spec":{"containers":[{"workingDir":"COPY/deep"},
                                                    {"workingDir":"COPY-2"}]}}}}}})";
    std::string out = text;
    for (std::size_t at = 0; (at = out.find("COPY", at)) != std::string::npos;)
      out.replace(at, 4, copy);
    return json::parse(out).as_object();
  };
  json::object moved = job("/data/copies/ml.a-x");
  MoveJob(moved, "/data/copies/ml.a-x", "/data/copies/ml.a-2-y");
  json::object want = job("/data/copies/ml.a-2-y");
  want["metadata"].as_object()["annotations"].as_object()["note"] = "/data/copies/ml.a-x";
  want["spec"]
      .at_pointer("/tfReplicaSpecs/Worker/template/spec/containers/1")
      .as_object()["workingDir"] = "/data/copies/ml.a-x-2";
  EXPECT_EQ(moved, want);
  json::object bare{{"spec", 1}};
  MoveJob(bare, "/a", "/b");
  EXPECT_EQ(bare, (json::object{{"spec", 1}}));
}

TEST_F(WorkCopy, NothingOfAPoolsOwnDirectoryIsCopied) {
  Write("pondage.sqlite", "x");
  Write("pki/ca.key", "x");
  Write("replicas/ml.a-1/deep/train.py", "x");
  fs::create_directory_symlink(root_ / "src/pki", root_ / "link");
  for (const std::string& inside : {Source(), Source() + "/pki", Source() + "/replicas/ml.a-1/deep",
                                    (root_ / "link").string()}) {
    const auto plan = PlanCopy(inside, {1000});
    ASSERT_FALSE(plan) << inside;
    EXPECT_EQ(plan.error().id, "PND-C010");
  }
}

TEST_F(WorkCopy, TooLargeNamesWhatIsLarge) {
  Write("small.py", "x");
  Write("data/a.bin", std::string(3000, 'x'));
  Write("ckpt/b.bin", std::string(2000, 'x'));
  const auto plan = PlanCopy(Source(), {4000});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().id, "PND-C011");
  EXPECT_NE(plan.error().message.find("largest: data 2.9 KiB, ckpt 2.0 KiB"), std::string::npos)
      << plan.error().message;
}

TEST_F(WorkCopy, AFailedCopyLeavesNothing) {
  Write("a.py", "x");
  auto plan = PlanCopy(Source(), {1000});
  ASSERT_TRUE(plan);
  plan->files.push_back("gone.py");
  const std::string target = (root_ / "work/x").string();
  EXPECT_FALSE(MakeCopy(*plan, target));
  EXPECT_FALSE(fs::exists(target));
  fs::create_directories(target);
  EXPECT_FALSE(MakeCopy(*plan, target)) << "never into what is there already";
  EXPECT_TRUE(fs::exists(target));
}

}  // namespace
}  // namespace pondage::submission
