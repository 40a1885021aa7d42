#include "run/mount_plan.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "run/runner_fixture_test.h"

namespace pondage::run {
namespace {

namespace fs = std::filesystem;
using port::Exited;
using port::NotStarted;
using Words = std::vector<std::string>;

class MountTest : public RunnerTest {
 protected:
  MountTest() {
    fs::create_directories(data_ + "/tree/parent/kept");
    fs::create_directories(data_ + "/source");
    std::ofstream(data_ + "/tree/parent/file") << "beside\n";
    fs::create_symlink("kept", data_ + "/tree/parent/link");
    std::ofstream(data_ + "/source/hello") << "inside\n";
    if (const std::string why = WhyNoMounts("bwrap"); !why.empty()) cannot_ = why;
  }

  // As a replica would be started; empty when it would run.
  static std::string MountAndLook(const MountPlan& plan) {
    std::string look;
    for (const auto& [file, path] : plan.expected) {
      look += "[ \"$(stat -Lc '%d %i' '" + path + "')\" = '" + std::to_string(file.device) + " " +
              std::to_string(file.inode) + "' ] || exit 9; ";
    }
    std::string command = "bwrap";
    for (const std::string& word : plan.words) command += " '" + word + "'";
    const std::string script = "exec " + command + " sh -c \"$LOOK\" 2>/dev/null";
    setenv("LOOK", look.c_str(), 1);
    const int status = std::system(script.c_str());
    return status == 0 ? "" : "status " + std::to_string(status);
  }
  std::string cannot_;
};

TEST_F(MountTest, PlansNothingWhereNothingChanges) {
  EXPECT_EQ(PlanMounts({}, "/")->words, Words{});
  EXPECT_EQ(PlanMounts({{data_ + "/source", data_ + "/source", false}}, "/")->words, Words{});
  EXPECT_EQ(PlanMounts({{data_ + "/source", data_ + "/source/", true}}, "/")->words.back(),
            data_ + "/source");
}

TEST_F(MountTest, PlansAMissingTargetWithoutMakingIt) {
  const std::string parent = data_ + "/tree/parent";
  const auto plan = PlanMounts({{data_ + "/source", parent + "/new/deep", true}}, "/");
  ASSERT_TRUE(plan) << plan.error().message;
  const Words* const words = &plan->words;
  ASSERT_EQ(words->size(), 3u + 4 + 3 * 3 + 3);
  EXPECT_EQ(Words(words->begin(), words->begin() + 3), (Words{"--dev-bind", "/", "/"}));
  EXPECT_EQ(Words(words->begin() + 3, words->begin() + 7),
            (Words{"--perms", "0755", "--tmpfs", parent}));
  EXPECT_THAT(*words, ::testing::Contains(parent + "/kept").Times(2));
  EXPECT_THAT(*words, ::testing::Contains("--symlink"));
  EXPECT_EQ(Words(words->end() - 3, words->end()),
            (Words{"--ro-bind", data_ + "/source", parent + "/new/deep"}));
  EXPECT_FALSE(fs::exists(parent + "/new"));
}

TEST_F(MountTest, RefusesWhatCannotBe) {
  const std::string parent = data_ + "/tree/parent";
  struct Row {
    const char* says;
    std::vector<port::Mount> mounts;
  };
  const Row rows[] = {
      {"no source", {{data_ + "/none", parent, false}}},
      {"relative", {{data_ + "/source", "data", false}}},
      {"upwards", {{data_ + "/source", "/a/../etc", false}}},
      {"the root", {{data_ + "/source", "/", false}}},
      {"directory on file", {{data_ + "/source", parent + "/file", false}}},
      {"file on directory", {{data_ + "/source/hello", parent + "/kept", false}}},
      {"below a file", {{data_ + "/source", parent + "/file/x", false}}},
      {"twice", {{data_ + "/source", parent, false}, {data_ + "/source", parent + "/", false}}}};
  for (const Row& row : rows) {
    const auto plan = PlanMounts(row.mounts, "/");
    ASSERT_FALSE(plan) << row.says;
    EXPECT_EQ(plan.error().id, "PND-R005") << row.says;
  }
  // What the program writes beside the new directory would vanish with the replica.
  EXPECT_FALSE(PlanMounts({{data_ + "/source", parent + "/new", false}}, parent));
}

TEST_F(MountTest, AReplicaSeesItsMountsAndNobodyElseDoes) {
  if (!cannot_.empty()) GTEST_SKIP() << "no mounts here: " << cannot_;
  const std::string parent = data_ + "/tree/parent";
  auto launch = Shell("mounted", "cat " + parent + "/new/deep/hello " + parent +
                                     "/file /pondage-test-data/hello; "
                                     "ls " +
                                     parent + "; echo more > " + parent +
                                     "/new/deep/out; "
                                     "echo no > /pondage-test-data/hello; exit 42");
  launch.mounts = {{data_ + "/source", parent + "/new/deep", false},
                   {data_ + "/source", "/pondage-test-data", true},
                   {"", data_ + "/tree/empty", false}};
  Start(launch);
  EXPECT_EQ(Await<Exited>("mounted").code, 42) << Log("mounted");  // not 143 of the wrapper
  EXPECT_THAT(Log("mounted"),
              ::testing::HasSubstr("inside\nbeside\ninside\nfile\nkept\nlink\nnew\n"));
  EXPECT_THAT(Log("mounted"), ::testing::HasSubstr("Read-only file system"));
  EXPECT_EQ(ReadText(data_ + "/source/out"), "more\n");
  EXPECT_EQ(ReadText(data_ + "/source/hello"), "inside\n");
  EXPECT_FALSE(fs::exists(parent + "/new"));
  EXPECT_FALSE(fs::exists("/pondage-test-data"));
}

TEST_F(MountTest, AMountedReplicaIsStoppedAndTakenOverLikeAnyOther) {
  if (!cannot_.empty()) GTEST_SKIP() << "no mounts here: " << cannot_;
  auto launch = Shell("mounted", "trap 'exit 42' TERM; echo ready; while :; do sleep 0.01; done");
  launch.mounts = {{data_ + "/source", "/pondage-test-data", false}};
  Start(launch);
  AwaitOutside([&] { return Log("mounted").contains("ready"); });
  StartServer();
  runner_->Adopt({{"mounted", 0, ""}});
  Await<port::Started>("mounted");
  runner_->Stop("mounted", base::Millis{60'000});
  EXPECT_EQ(Await<Exited>("mounted").code, 42);
}

TEST_F(MountTest, WhatWasChangedAfterItWasAllowedIsNotShown) {
  if (!cannot_.empty()) GTEST_SKIP() << "no mounts here: " << cannot_;
  fs::create_directories(data_ + "/secret");
  fs::create_directory_symlink(data_ + "/source", data_ + "/way");
  struct stat status{};
  ASSERT_EQ(stat((data_ + "/way").c_str(), &status), 0);
  auto launch = Shell("shown", "ls /pondage-test-data");
  launch.mounts = {{data_ + "/way", "/pondage-test-data", true}};
  launch.mounts[0].expected = port::FileId{status.st_dev, status.st_ino};
  Start(launch);
  EXPECT_EQ(Await<Exited>("shown").code, 0);
  EXPECT_EQ(Log("shown"), "hello\n");

  fs::remove(data_ + "/way");
  fs::create_directory_symlink(data_ + "/secret", data_ + "/way");
  launch.uid = "kept";
  Start(launch);
  const auto refused = Await<NotStarted>("kept");
  EXPECT_EQ(refused.id, "PND-R005");
  EXPECT_THAT(refused.message, ::testing::HasSubstr("/pondage-test-data"));
}

// Where root mounts for another account, everything that it binds is named, so that what comes to
// lie there meanwhile is noticed; but not where only root could bring that about.
TEST_F(MountTest, WhatIsBoundForAnotherAccountIsExpectedToBeWhatItWas) {
  const std::string parent = data_ + "/tree/parent";
  const std::vector<port::Mount> mounts = {{data_ + "/source", parent + "/new/deep"}};
  EXPECT_TRUE(PlanMounts(mounts, "/")->expected.empty());
  const auto plan = PlanMounts(mounts, "/", true);
  ASSERT_TRUE(plan) << plan.error().message;
  std::map<std::string, port::FileId> expected;
  for (const auto& [file, path] : plan->expected) expected[path] = file;
  const std::pair<std::string, std::string> kRows[] = {{parent + "/new/deep", data_ + "/source"},
                                                       {parent + "/kept", parent + "/kept"},
                                                       {parent + "/file", parent + "/file"}};
  EXPECT_EQ(expected.size(), std::size(kRows)) << "a link is made anew as it was";
  for (const auto& [path, source] : kRows) {
    struct stat status{};
    ASSERT_EQ(stat(source.c_str(), &status), 0);
    EXPECT_EQ(expected[path], (port::FileId{status.st_dev, status.st_ino})) << path;
  }
  EXPECT_EQ(PlanMounts({{data_ + "/source", "/pondage-test-data"}}, "/", true)->expected.size(), 1u)
      << "whoever can change / needs no such way";
}

// A job that can write where another starts puts a link in place of what the plan has seen.
TEST_F(MountTest, ASwapBetweenThePlanAndTheMountStartsNothing) {
  if (!cannot_.empty()) GTEST_SKIP() << "no mounts here: " << cannot_;
  const std::string parent = data_ + "/tree/parent";
  fs::create_directories(data_ + "/secret");
  std::ofstream(data_ + "/secret/word") << "hush\n";
  const auto put_link = [&](const std::string& path) {
    fs::remove_all(path);
    fs::create_symlink(data_ + "/secret", path);
  };
  const auto make_anew = [&] {
    fs::remove_all(data_ + "/tree");
    fs::create_directories(parent + "/kept");
  };
  struct Row {
    const char* says;
    std::string target, swapped;
  };
  const Row rows[] = {{"what is bound again beside it", parent + "/new/deep", parent + "/kept"},
                      {"its own place", parent + "/kept", parent + "/kept"},
                      {"above its place", parent + "/kept", parent},
                      {"above what is made", parent + "/new", parent}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.says);
    make_anew();
    auto plan = PlanMounts({{data_ + "/source", row.target}}, "/", true);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(MountAndLook(*plan), "") << "nothing was changed";
    put_link(row.swapped);
    EXPECT_NE(MountAndLook(*plan), "");
  }
}

// bubblewrap runs as root there: what it made, or a link that it followed, would be root's doing.
TEST_F(MountTest, NothingIsMadeInsideAnotherMountForAnotherAccount) {
  const std::string outer = data_ + "/tree/parent";
  const std::string file = data_ + "/source/hello";
  fs::create_directory_symlink(outer, data_ + "/way");
  struct Row {
    const char* says;
    std::vector<port::Mount> mounts;
    bool planned;
  };
  const std::vector<Row> rows = {
      {"a missing directory", {{outer, "/x"}, {data_ + "/source", "/x/new"}}, false},
      {"a missing file", {{outer, "/x"}, {file, "/x/nologin"}}, false},
      {"below what is missing", {{outer, "/x"}, {file, "/x/new/deep"}}, false},
      {"through a link", {{outer, "/x"}, {data_ + "/source", "/x/link"}}, false},
      {"a file on a directory", {{outer, "/x"}, {file, "/x/kept"}}, false},
      {"a directory that is there", {{outer, "/x"}, {data_ + "/source", "/x/kept"}}, true},
      {"a file that is there", {{outer, "/x"}, {file, "/x/file"}}, true},
      {"in the order of the manifest", {{file, "/x/nologin"}, {outer, "/x"}}, false},
      {"by another name", {{file, data_ + "/way/new"}, {data_ + "/source", outer}}, false}};
  for (const Row& row : rows) {
    const auto words = PlanMounts(row.mounts, "/", /*for_another_account=*/true);
    EXPECT_EQ(words.has_value(), row.planned) << row.says;
    if (!words) {
      EXPECT_EQ(words.error().id, "PND-R005") << row.says;
    }
    EXPECT_TRUE(PlanMounts(row.mounts, "/")) << row.says << ": the program could do it itself";
  }
  // What was made for this replica alone may be written into: a ConfigMap inside an emptyDir.
  std::vector<port::Mount> own = {{outer, "/x"}, {data_ + "/source", "/x/new"}};
  own[0].own = true;
  EXPECT_TRUE(PlanMounts(own, "/", true));
  own[1].target = "/x/link/new";  // which an earlier start of it may have put there
  EXPECT_FALSE(PlanMounts(own, "/", true));
}

TEST_F(MountTest, SaysWhenThisMachineCannotMount) {
  EXPECT_EQ(WhyNoMounts("/no/such/bwrap").empty(), false);
  settings_.bwrap = "/no/such/bwrap";
  StartServer();
  auto launch = Shell("refused", "true");
  launch.mounts = {{data_ + "/source", "/pondage-test-data", false}};
  Start(launch);
  EXPECT_EQ(Await<NotStarted>("refused").id, "PND-R004");
}

}  // namespace
}  // namespace pondage::run
