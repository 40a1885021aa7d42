// Replicas beside what never answers, and what cannot die.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "run/runner_fixture_test.h"
#include "shim/descriptor.h"
#include "shim/process_tree.h"

namespace pondage::run {
namespace {

using port::Delayed;
using port::Exited;
using port::NotStarted;
using port::Saved;
using port::Started;

// A real file system that never answers: FUSE without anybody behind it.
class DeadMount {
 public:
  explicit DeadMount(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    device_ = shim::Descriptor(open("/dev/fuse", O_RDWR | O_CLOEXEC));
    const std::string options =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    mounted_ = device_ && mount("dead", path_.c_str(), "fuse", 0, options.c_str()) == 0;
  }
  ~DeadMount() { Revive(); }
  void Revive() {  // all that hangs there is told that it is gone
    device_ = shim::Descriptor();
    if (std::exchange(mounted_, false)) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  shim::Descriptor device_;
  bool mounted_ = false;
};

class DeadMountTest : public RunnerTest {
 protected:
  DeadMountTest() : dead_(data_ + "-dead") {}
  ~DeadMountTest() override {
    dead_.Revive();
    std::filesystem::remove(dead_.path());
  }
  DeadMount dead_;
};

TEST_F(DeadMountTest, ItsMountsHangAlone) {
  if (!dead_.mounted()) GTEST_SKIP() << "only root mounts a FUSE file system by hand";
  settings_.tell_after_ms = 20;
  StartServer();
  auto launch = Shell("away", "true");
  launch.mounts = {{dead_.path(), "/data", false}};
  Start(launch);
  EXPECT_EQ(Await<Delayed>("away").message, dead_.path() + " does not answer");
  Start(Shell("here", "exit 3"));
  EXPECT_EQ(Await<Exited>("here").code, 3);
  runner_->Kill("away");
  Await<NotStarted>("away");
  EndServer();  // its thread still hangs
  StartServer();
  Start(Shell("next", "exit 5"));
  EXPECT_EQ(Await<Exited>("next").code, 5);
}

TEST_F(DeadMountTest, WhereItStartsIsLookedAtBeforeItsShimGoesThere) {
  if (!dead_.mounted()) GTEST_SKIP() << "only root mounts a FUSE file system by hand";
  settings_.tell_after_ms = 20;
  auto place = Shell("place", "true");
  place.working_dir = dead_.path() + "/code";
  auto program = Shell("program", "true");
  program.argv = {dead_.path() + "/train"};
  for (const auto& launch : {place, program}) {
    StartServer();
    Start(launch);
    EXPECT_THAT(Await<Delayed>(launch.uid).message, ::testing::StartsWith(dead_.path()));
    runner_->Kill(launch.uid);
    Await<NotStarted>(launch.uid);
  }
}

TEST_F(DeadMountTest, ACheckpointDirectoryThatDiesHoldsUpNoEnd) {
  if (!dead_.mounted()) GTEST_SKIP() << "only root mounts a FUSE file system by hand";
  settings_.last_look_ms = 200;
  StartServer();
  const std::string link = data_ + "/ckpt";
  std::filesystem::create_directory(link + "-alive");
  std::filesystem::create_symlink(link + "-alive", link);
  auto launch = Shell("saver", "while [ ! -e " + data_ + "/go ]; do sleep 0.01; done; exit 42");
  launch.checkpoint_dir = link;
  auto other = Shell("other", "sleep 1000");
  other.checkpoint_dir = link + "-alive";
  Start(launch);
  Start(other);
  Await<Started>("saver");
  Await<Started>("other");
  std::filesystem::remove(link);  // its file system goes away under it
  std::filesystem::create_symlink(dead_.path(), link);
  Touch(data_ + "/go");
  EXPECT_EQ(Await<Exited>("saver").code, 42);
  Touch(other.checkpoint_dir + "/ckpt-7");
  EXPECT_EQ(Await<Saved>("other").step, 7) << "others are still looked at";
  auto again = launch;
  again.start = 1;
  runner_->Forget("saver", 0);
  Start(again);  // looks there first, and hangs alone
  Start(Shell("here", "exit 3"));
  EXPECT_EQ(Await<Exited>("here").code, 3);
  runner_->Kill("saver");
  EXPECT_EQ(Await<NotStarted>("saver").start, 1);
  runner_->Kill("other");
  Await<Exited>("other");
}

// It is in the kernel's hands, hides from its mark, and has no control group.
TEST_F(DeadMountTest, WhatHangsBelowAStoppedShimDiesWithIt) {
  if (!dead_.mounted()) GTEST_SKIP() << "only root mounts a FUSE file system by hand";
  settings_.stopped_ms = 200;
  place_.mount_info = "";
  StartServer();
  const std::string pid_file = data_ + "/pid";
  Start(Shell("stopped", "env -i setsid sh -c 'echo $$ >" + pid_file + "; exec cat " +
                             dead_.path() + "/x' & while [ ! -s " + pid_file +
                             " ]; do sleep 0.01; done; kill -STOP $PPID; sleep 1000"));
  AwaitOutside([&] { return ReadText(pid_file).ends_with('\n'); });
  const auto pid = static_cast<pid_t>(std::stoi(ReadText(pid_file)));
  AwaitOutside([&] { return ReadText("/proc/" + std::to_string(pid) + "/comm") == "cat\n"; });
  AwaitOutside([&] {
    const auto process = shim::ReadProcess(ShimOf("stopped"));
    return process && process->state == 'T';
  });
  runner_->Kill("stopped");
  EXPECT_EQ(Await<Exited>("stopped").code, 137);
  AwaitOutside([&] {
    const auto process = shim::ReadProcess(pid);
    return !process || process->state == 'Z';
  });
}

// Processes that the kernel does not let die, which a freezer of the first version can do.
class FrozenTest : public RunnerTest {
 protected:
  FrozenTest() {
    place_.mount_info = "";  // without control groups of its own
    StartServer();
    freezer_ =
        "/sys/fs/cgroup/freezer/" + std::filesystem::path(data_).filename().string() + "-frozen";
    made_ = mkdir(freezer_.c_str(), 0755) == 0;
  }
  ~FrozenTest() override {
    if (!made_) return;
    Set("THAWED");
    AwaitOutside([&] { return rmdir(freezer_.c_str()) == 0; });
  }
  void Freeze(pid_t pid) {
    std::ofstream(freezer_ + "/cgroup.procs") << pid;
    Set("FROZEN");
    AwaitOutside([&] { return ReadText(freezer_ + "/freezer.state") == "FROZEN\n"; });
  }
  void Set(const char* state) { std::ofstream(freezer_ + "/freezer.state") << state; }

  std::string freezer_;
  bool made_ = false;
};

TEST_F(FrozenTest, WhatItsShimLeftKeepsAReplicaFromEndingAndNobodyElse) {
  if (!made_) GTEST_SKIP() << "no freezer of version 1 here";
  const std::string pid_file = data_ + "/pid";
  Start(Shell("left", "sleep 1000 & echo $! > " + pid_file + "; wait"));
  Await<Started>("left");
  AwaitOutside([&] { return ReadText(pid_file).ends_with('\n'); });
  const auto pid = static_cast<pid_t>(std::stoi(ReadText(pid_file)));
  Freeze(pid);
  kill(ShimOf("left"), SIGKILL);
  for (int i = 0; i < 5; ++i) {
    const std::string uid = "other-" + std::to_string(i);
    Start(Shell(uid, "exit 3"));
    EXPECT_EQ(Await<Exited>(uid).code, 3);
  }
  EXPECT_EQ(Count<Exited>("left"), 0u) << "its GPUs are not free";
  EXPECT_TRUE(shim::ReadProcess(pid));
  Set("THAWED");
  EXPECT_EQ(Await<Exited>("left").code, 137);
  EXPECT_TRUE(Alive("left").empty());
}

}  // namespace
}  // namespace pondage::run
