#include "run/mount_plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

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

  // A program that does `script` first, and then is `program`.
  std::string Before(const std::string& name, const std::string& script,
                     const std::string& program) {
    const std::string path = data_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\nexec " << program << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  // A replica of another account, which only root can start.
  static port::Launch ForAnother(const std::string& uid, const std::string& script) {
    auto launch = Shell(uid, script);
    launch.user_id = launch.group_id = 65534;
    return launch;
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
  const auto file_at = [](const std::string& path) {
    struct stat status{};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return port::FileId{status.st_dev, status.st_ino};
  };
  const std::vector<port::Mount> mounts = {{data_ + "/source", parent + "/new/deep"}};
  EXPECT_TRUE(PlanMounts(mounts, "/")->expected.empty());
  const auto plan = PlanMounts(mounts, "/", true);
  ASSERT_TRUE(plan) << plan.error().message;
  std::map<std::string, port::FileId> expected;
  for (const auto& [file, path] : plan->expected) expected[path] = file;
  EXPECT_EQ(expected,
            (std::map<std::string, port::FileId>{{parent + "/kept", file_at(parent + "/kept")},
                                                 {parent + "/file", file_at(parent + "/file")}}))
      << "a link is made anew as it was";
  ASSERT_EQ(plan->volumes.size(), 1u);
  EXPECT_EQ(plan->volumes[0].source.file, file_at(data_ + "/source"));
  EXPECT_EQ(plan->volumes[0].target, parent + "/new/deep");
  EXPECT_THAT(plan->words, ::testing::Not(::testing::Contains(data_ + "/source")))
      << "bubblewrap would follow links to its target";
  EXPECT_TRUE(PlanMounts({{data_ + "/source", "/pondage-test-data"}}, "/", true)->expected.empty())
      << "whoever can change / needs no such way";
}

// bubblewrap makes the entries of such a directory one by one, by their paths.
TEST_F(MountTest, WhatOthersCanMoveIsNotBuiltAgainForAnotherAccount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes directories of others";
  const std::string home = data_ + "/home";
  fs::create_directories(home + "/inner/deep");
  const auto is_planned = [&](const std::string& target) {
    return PlanMounts({{data_ + "/source", target}}, "/", true).has_value();
  };
  EXPECT_TRUE(is_planned(home + "/inner/new"));
  ASSERT_EQ(chown((home + "/inner").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(is_planned(home + "/inner/new")) << "it may fill it, not move it";
  EXPECT_TRUE(is_planned(home + "/inner/deep"));
  EXPECT_FALSE(is_planned(home + "/inner/deep/new"));
  ASSERT_EQ(chmod(home.c_str(), 0777), 0);
  EXPECT_FALSE(is_planned(home + "/inner/new"));
  ASSERT_EQ(chmod(home.c_str(), 01777), 0);
  EXPECT_FALSE(is_planned(home + "/inner/new")) << "its own there it may move";
  ASSERT_EQ(chown((home + "/inner").c_str(), 0, 0), 0);
  EXPECT_TRUE(is_planned(home + "/inner/new"));
}

// A job that can write where another starts puts a link in place of what the plan has seen.
TEST_F(MountTest, ASwapBetweenThePlanAndTheMountStartsNothing) {
  if (!cannot_.empty() || geteuid() != 0) GTEST_SKIP() << "no mounts for others here: " << cannot_;
  const std::string parent = data_ + "/tree/parent";
  const std::string secret = data_ + "/secret";
  const auto make_anew = [&] {
    fs::remove_all(data_ + "/tree");
    fs::remove_all(data_ + "/source.was");
    fs::remove_all(data_ + "/source");
    fs::create_directories(parent + "/kept");
    fs::create_directories(data_ + "/source");
    std::ofstream(parent + "/word") << "mine\n";
    std::ofstream(data_ + "/source/word") << "shown\n";
    fs::create_directories(secret);
    std::ofstream(secret + "/word") << "hush\n";
  };
  struct Row {
    const char* says;
    std::string source, target, swapped;
  };
  const std::string source = data_ + "/source";
  const Row rows[] = {
      {"what is bound again beside it", source, parent + "/new/deep", parent + "/kept"},
      {"its own place", source, parent + "/kept", parent + "/kept"},
      {"above its place", source, parent + "/kept", parent},
      {"above the place of a file", source + "/word", parent + "/word", parent},
      {"what is mounted", source, parent + "/kept", source}};
  int number = 0;
  for (const Row& row : rows) {
    for (const char* when : {"never", "before bubblewrap", "before the shim"}) {
      SCOPED_TRACE(std::string(row.says) + ", " + when);
      make_anew();
      const std::string swap =
          "mv " + row.swapped + " " + row.swapped + ".was; ln -s " + secret + " " + row.swapped;
      const std::string shim = std::string(PONDAGE_BIN_DIR) + "/pondage-shim";
      settings_.bwrap = "bwrap";
      settings_.shim = shim;
      if (when == std::string("before bubblewrap"))
        settings_.bwrap =
            Before("first-bwrap", "[ \"$1\" != --args ] || { " + swap + "; }", "bwrap \"$@\"");
      if (when == std::string("before the shim")) settings_.shim = Before("first-shim", swap, shim);
      StartServer();
      const std::string uid = "swap-" + std::to_string(++number);
      auto launch = ForAnother(uid, "exit 5");
      launch.mounts = {{row.source, row.target}};
      Start(launch);
      const bool bound_already =  // a mount by then, which stays where it is
          when == std::string("before the shim") && row.swapped == parent + "/kept" &&
          row.target != parent + "/kept";
      if (when == std::string("never") || bound_already) {
        EXPECT_EQ(Await<Exited>(uid).code, 5) << Log(uid);
      } else {
        EXPECT_EQ(Await<NotStarted>(uid).id, "PND-R005");
      }
      EXPECT_EQ(ReadText(secret + "/word"), "hush\n");
      EXPECT_EQ(std::distance(fs::directory_iterator(secret), {}), 1) << "something was made";
    }
  }
}

// The way to the target leads to / half of the time: bubblewrap and root's shim must never come to
// believe a /proc of the job's.
TEST_F(MountTest, ATargetThatIsExchangedAllTheTimeNeverHidesTheSystem) {
  if (!cannot_.empty() || geteuid() != 0) GTEST_SKIP() << "no mounts for others here: " << cannot_;
  const std::string way = data_ + "/way", link = data_ + "/link";
  for (const char* name : {"/proc", "/sys", "/usr"}) fs::create_directories(way + name);
  std::string up;
  for (const fs::path& part : fs::path(data_)) up += part == "/" ? "" : "../";
  fs::create_directory_symlink(up, link);
  ASSERT_TRUE(fs::exists(link + "/proc/self"));
  std::atomic<bool> stop = false;
  std::thread exchanging([&] {
    while (!stop) {
      renameat2(AT_FDCWD, way.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
      std::this_thread::sleep_for(std::chrono::microseconds(700));
    }
  });
  for (int i = 0; i < 48; ++i) {
    const std::string uid = "exchanged-" + std::to_string(i);
    auto launch = ForAnother(uid, "[ -d /proc/self ] && [ -d /sys/kernel ] && [ -d /usr/bin ]");
    const std::string name = std::array{"/proc", "/sys", "/usr"}[static_cast<std::size_t>(i) % 3];
    launch.mounts = {{data_ + "/source", way + name}};
    Start(launch);
    AwaitThat([&] {  // with the lock of the readings held
      return std::ranges::any_of(readings_, [&](const port::Reading& reading) {
        const auto* const exited = std::get_if<Exited>(&reading);
        const auto* const refused = std::get_if<NotStarted>(&reading);
        return (exited != nullptr && exited->uid == uid) ||
               (refused != nullptr && refused->uid == uid);
      });
    });
    if (Count<Exited>(uid) > 0) {
      EXPECT_EQ(Await<Exited>(uid).code, 0) << name;
    } else {
      EXPECT_EQ(Await<NotStarted>(uid).id, "PND-R005");
    }
  }
  stop = true;
  exchanging.join();
}

TEST_F(MountTest, NothingStartsWithAProcThatIsNotTheKernels) {
  if (!cannot_.empty()) GTEST_SKIP() << "no mounts here: " << cannot_;
  settings_.bwrap = Before("fake-proc", "[ \"$1\" = --args ] || exec bwrap \"$@\"",
                           "bwrap --args 4 --bind " + data_ + "/source /proc -- \"$4\"");
  StartServer();
  auto launch = Shell("fooled", "true");
  launch.mounts = {{data_ + "/source", data_ + "/tree/parent/kept"}};
  Start(launch);
  const auto refused = Await<NotStarted>("fooled");
  EXPECT_EQ(refused.id, "PND-R005");
  EXPECT_THAT(refused.message, ::testing::HasSubstr("/proc"));
}

// As Kubernetes has it; for another account the shim does it, else bubblewrap.
TEST_F(MountTest, RootMountsForAnotherAccountWhatBubblewrapWould) {
  if (!cannot_.empty() || geteuid() != 0) GTEST_SKIP() << "no mounts for others here: " << cannot_;
  const std::string parent = data_ + "/tree/parent";
  ASSERT_EQ(chmod(data_.c_str(), 0755), 0);
  ASSERT_EQ(chown((data_ + "/source").c_str(), 65534, 65534), 0);
  fs::create_directories(data_ + "/other/inner");
  auto launch = ForAnother(
      "mounted", "cd " + parent +
                     "; cat new/deep/hello file /pondage-a/hello /pondage-f; ls; "
                     "ls /pondage-a; echo more > new/deep/out; echo no > /pondage-a/hello; "
                     "echo /pondage-own/* /pondage-nest/inner/*; exit 42");
  launch.mounts = {
      {data_ + "/source", parent + "/new/deep", false}, {data_ + "/source", "/pondage-a", true},
      {data_ + "/source/hello", "/pondage-f", true},    {"", "/pondage-own", false},
      {data_ + "/source", "/pondage-own/words", true},  {data_ + "/other", "/pondage-nest", true},
      {data_ + "/source", "/pondage-nest/inner", true}};
  Start(launch);
  EXPECT_EQ(Await<Exited>("mounted").code, 42) << Log("mounted");
  EXPECT_THAT(Log("mounted"), ::testing::HasSubstr("inside\nbeside\ninside\ninside\nfile\n"
                                                   "kept\nlink\nnew\nhello\n"));
  EXPECT_THAT(Log("mounted"), ::testing::HasSubstr("Read-only file system"));
  EXPECT_THAT(Log("mounted"),
              ::testing::HasSubstr("/pondage-own/words /pondage-nest/inner/hello "));
  EXPECT_EQ(ReadText(data_ + "/source/out"), "more\n");
  EXPECT_FALSE(fs::exists(parent + "/new"));
  EXPECT_FALSE(fs::exists("/pondage-a"));
}

// Root mounts there: what it made, or a link that it followed, would be root's doing.
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
    const auto words = PlanMounts(row.mounts, "/", /*root_for_another=*/true);
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
