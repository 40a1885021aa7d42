#include "run/cgroups.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_directory.h"
#include "run/runner_fixture_test.h"
#include "shim/process_tree.h"

namespace pondage::run {
namespace {

namespace fs = std::filesystem;
using port::Exited;

// A tree as the kernel would show it, with the files of a replica's group made beforehand.
class FakeTree : public ::testing::Test {
 protected:
  FakeTree() {
    place_.is_root = true;
    place_.name = "pool";
  }

  void Files(const std::string& directory, const std::vector<std::string>& names) {
    fs::create_directories(root_ / directory);
    for (const std::string& name : names) std::ofstream(root_ / directory / name) << "";
  }
  void Mount(const std::string& directory, const std::string& type, const std::string& options) {
    place_.mount_info += "36 35 0:26 / " + (root_ / directory).string() +
                         " rw,relatime shared:9 - " + type + " " + type + " rw," + options + "\n";
  }
  std::string Content(const std::string& file) const { return ReadText(root_ / file); }

  const base::TestDirectory temporary_;
  const fs::path root_ = temporary_.path();
  CgroupPlace place_;
};

constexpr GroupLimits kLimits{base::Bytes{1 << 30}, base::MilliCpu{1500}, 200};

TEST_F(FakeTree, Version2) {
  Mount("u", "cgroup2", "nsdelegate");
  Files("u", {"cgroup.subtree_control", "cgroup.procs"});
  Files("u/pool", {"cgroup.subtree_control"});
  Files("u/pool/a", {"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max", "pids.max",
                     "cgroup.kill"});
  const auto groups = FindCgroups(place_);
  const LimitsReport report = groups->Report();
  EXPECT_EQ(report.backend, "v2");
  EXPECT_TRUE(report.memory && report.cpu && report.pids) << report.why;
  EXPECT_EQ(report.why, "");

  const auto group = groups->Make("a", kLimits);
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->directories, std::vector<std::string>{root_ / "u/pool/a"});
  EXPECT_EQ(group->oom_file, root_ / "u/pool/a/memory.events");
  EXPECT_EQ(group->kill_file, root_ / "u/pool/a/cgroup.kill");
  EXPECT_EQ(Content("u/pool/a/memory.max"), "1073741824");
  EXPECT_EQ(Content("u/pool/a/memory.swap.max"), "0");
  EXPECT_EQ(Content("u/pool/a/memory.oom.group"), "1");
  EXPECT_EQ(Content("u/pool/a/cpu.max"), "150000 100000");
  EXPECT_EQ(Content("u/pool/a/pids.max"), "200");
  groups->Kill("a");
  EXPECT_EQ(Content("u/pool/a/cgroup.kill"), "1");

  const auto missing = groups->Make("b", kLimits);  // its files never appear
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, base::Kind::kUnavailable);
  EXPECT_TRUE(groups->Make("c", {}));
  groups->Remove("c");
  EXPECT_FALSE(fs::exists(root_ / "u/pool/c"));
}

TEST_F(FakeTree, AnOrdinaryUserGetsTheHighestGroupThatIsHis) {
  Mount("u", "cgroup2", "nsdelegate");
  place_.is_root = false;
  place_.own_groups = "1:name=systemd:/x\n0::/user.slice/user@7/app/term\n";
  Files("u/user.slice", {});  // no cgroup.procs that may be written
  Files("u/user.slice/user@7", {"cgroup.procs", "cgroup.subtree_control"});
  Files("u/user.slice/user@7/app/term", {"cgroup.procs"});
  Files("u/user.slice/user@7/pool", {"cgroup.subtree_control"});
  EXPECT_EQ(FindCgroups(place_)->Report().backend, "v2");
  EXPECT_EQ(FindCgroups(place_)->Make("x", {})->directories.front(),
            root_ / "u/user.slice/user@7/pool/x");
}

TEST_F(FakeTree, Version1WithSharedAndMissingControllers) {
  Mount("cpu,cpuacct", "cgroup", "cpu,cpuacct");
  Mount("memory", "cgroup", "memory");
  Mount("freezer", "cgroup", "freezer");
  Mount("unified", "cgroup2", "nsdelegate");  // hybrid: no controllers there
  for (const char* controller : {"cpu,cpuacct", "memory", "freezer"}) {
    Files(std::string(controller) + "/pool", {"cgroup.procs"});
  }
  Files("memory/pool/a", {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"});
  Files("cpu,cpuacct/pool/a", {"cpu.cfs_quota_us", "cpu.cfs_period_us"});
  Files("freezer/pool/a", {"freezer.state"});
  const auto groups = FindCgroups(place_);
  const LimitsReport report = groups->Report();
  EXPECT_EQ(report.backend, "v1");
  EXPECT_TRUE(report.memory && report.cpu);
  EXPECT_FALSE(report.pids);
  EXPECT_THAT(report.why, ::testing::HasSubstr("pids"));

  const auto group = groups->Make("a", kLimits);
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->directories.size(), 3u);
  EXPECT_EQ(group->oom_file, root_ / "memory/pool/a/memory.oom_control");
  EXPECT_EQ(group->freezer, root_ / "freezer/pool/a");
  EXPECT_EQ(Content("memory/pool/a/memory.limit_in_bytes"), "1073741824");
  EXPECT_EQ(Content("cpu,cpuacct/pool/a/cpu.cfs_quota_us"), "150000");

  const auto free = groups->Make("b", {});
  ASSERT_TRUE(free) << free.error().message;
  EXPECT_EQ(free->directories, std::vector<std::string>{root_ / "freezer/pool/b"});
  EXPECT_EQ(free->oom_file, "");
  EXPECT_TRUE(groups->Remove("b"));
}

TEST_F(FakeTree, NothingThereIsSaid) {
  auto groups = FindCgroups(place_);
  EXPECT_EQ(groups->Report().backend, "none");
  EXPECT_EQ(groups->Report().why, "this machine has no control groups");
  EXPECT_TRUE(groups->Make("a", kLimits)->directories.empty());

  Mount("unified", "cgroup2", "nsdelegate");
  fs::create_directories(root_ / "unified");
  groups = FindCgroups(place_);
  EXPECT_EQ(groups->Report().backend, "none");
  EXPECT_FALSE(groups->Report().why.empty());
  EXPECT_FALSE(fs::exists(root_ / "unified/pool"));
}

// On this machine's own control groups.
TEST_F(RunnerTest, AReplicaIsInAllItsGroupsFromItsFirstInstruction) {
  if (runner_->Limits().backend == "none") GTEST_SKIP() << runner_->Limits().why;
  auto launch = Program("member", {"cat", "/proc/self/cgroup"});
  launch.memory_limit = kLimits.memory;
  launch.cpu_limit = kLimits.cpu;
  launch.pids_limit = kLimits.pids;
  Start(launch);
  Await<Exited>("member");
  const auto groups = FindCgroups(place_)->Make("member", kLimits);
  ASSERT_TRUE(groups);
  EXPECT_FALSE(groups->directories.empty());
  for (const std::string& directory : groups->directories) {
    const std::string own = directory.substr(directory.rfind('/', directory.rfind('/') - 1));
    EXPECT_THAT(Log("member"), ::testing::HasSubstr(own + "\n")) << directory;
  }
  FindCgroups(place_)->Remove("member");
}

// Groups of a version 2 tree without limits: what the tree of a machine whose controllers belong to
// version 1 still has.
class BareVersion2 : public Cgroups {
 public:
  explicit BareVersion2(std::string parent) : parent_(std::move(parent)) {}
  LimitsReport Report() const override { return {"v2", false, false, false, "bare"}; }
  base::Result<Group> Make(const std::string& uid, const GroupLimits&) override {
    const std::string group = parent_ + "/" + uid;
    fs::create_directories(group);
    return Group{{group}, "", group + "/cgroup.kill", ""};
  }
  void Kill(const std::string& uid) override {
    std::ofstream(parent_ + "/" + uid + "/cgroup.kill") << "1";
  }
  bool Remove(const std::string& uid) override { return rmdir((parent_ + "/" + uid).c_str()) == 0; }

 private:
  std::string parent_;
};

// Where a version 2 tree is mounted that this account may change; empty: nowhere.
std::string RealVersion2() {
  for (const char* place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string path = place;
    if (access((path + "/cgroup.controllers").c_str(), R_OK) == 0 &&
        access((path + "/cgroup.procs").c_str(), W_OK) == 0) {
      return path;
    }
  }
  return "";
}

TEST_F(RunnerTest, ARealVersion2TreeHoldsAReplicaFromItsBirthAndEndsIt) {
  const std::string tree = RealVersion2();
  if (tree.empty()) GTEST_SKIP() << "no version 2 tree here may be changed by this account";
  const std::string parent = tree + "/" + place_.name + "-bare";
  fs::create_directory(parent);
  runner_ = std::make_unique<ShimRunner>(settings_, std::make_unique<BareVersion2>(parent), clock_);
  runner_->Listen([this](port::Reading reading) {
    const std::lock_guard lock(mutex_);
    readings_.push_back(std::move(reading));
    changed_.notify_all();
  });
  Start(Shell("held",
              "cat /proc/self/cgroup; (setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &); "
              "echo ready; sleep 1000"));
  Await<port::Started>("held");
  AwaitOutside([&] { return Log("held").contains("ready"); });
  EXPECT_THAT(Log("held"), ::testing::HasSubstr("0::" + parent.substr(tree.size()) + "/held\n"));
  runner_->Kill("held");
  EXPECT_EQ(Await<Exited>("held").code, 137);
  EXPECT_TRUE(Alive("held").empty());
  EXPECT_FALSE(fs::exists(parent + "/held"));
  EndServer();
  EXPECT_EQ(rmdir(parent.c_str()), 0);
}

TEST_F(RunnerTest, AReplicaThatTakesTooMuchMemoryIsNamed) {
  if (!runner_->Limits().memory) GTEST_SKIP() << runner_->Limits().why;
  auto launch = Program("greedy", {"tail", "/dev/zero"});
  launch.memory_limit = base::Bytes{64 << 20};
  Start(launch);
  const auto exited = Await<Exited>("greedy");
  EXPECT_EQ(exited.reason, "OOMKilled");
  EXPECT_EQ(exited.code, 137);

  // A child of it was killed, and it says so with a code of its own.
  auto parent = Shell("parent", "tail /dev/zero; exit 3");
  parent.memory_limit = base::Bytes{64 << 20};
  Start(parent);
  const auto own_code = Await<Exited>("parent");
  if (own_code.code != 137) {  // version 2 ends the whole group
    EXPECT_EQ(own_code.code, 3);
    EXPECT_EQ(own_code.reason, "Error");
  }
  EXPECT_THAT(own_code.message, ::testing::HasSubstr("memory limit"));
}

TEST_F(RunnerTest, WhoHidesFromAKilledShimIsFoundInItsGroup) {
  if (runner_->Limits().backend == "none") GTEST_SKIP() << runner_->Limits().why;
  // Without the mark in its environment, in another session, and its parent is the shim's.
  Start(Shell("hidden", "env -i setsid sh -c 'echo $$ >" + data_ +
                            "/pid; while :; do sleep 1; done' & sleep 1000"));
  Await<port::Started>("hidden");
  AwaitOutside([&] { return ReadText(data_ + "/pid").ends_with('\n'); });
  AwaitOutside([&] { return runner_->RunningNow().size() == 1; });
  const auto groups = FindCgroups(place_)->Make("hidden", {});
  kill(static_cast<pid_t>(runner_->RunningNow().front().shim_pid), SIGKILL);
  Await<Exited>("hidden");
  const auto hidden = shim::ReadProcess(std::stoi(ReadText(data_ + "/pid")));
  EXPECT_TRUE(!hidden || hidden->state == 'Z');
  for (const std::string& directory : groups->directories) {
    EXPECT_FALSE(fs::exists(directory)) << directory;
  }
}

TEST_F(RunnerTest, ABombIsBoundedAndEnded) {
  if (!runner_->Limits().pids) GTEST_SKIP() << runner_->Limits().why;
  auto launch = Shell(
      "bomb",
      "i=0; while [ $i -lt 40 ]; do (while :; do sleep 0.05 & sleep 0.05; done) 2>/dev/null & "
      "i=$((i+1)); done; sleep 1000");
  launch.pids_limit = 150;
  Start(launch);
  Await<port::Started>("bomb");
  AwaitOutside([] { return Alive("bomb").size() > 50; });
  EXPECT_LE(Alive("bomb").size(), 150u);
  runner_->Kill("bomb");
  EXPECT_EQ(Await<Exited>("bomb").code, 137);
  EXPECT_TRUE(Alive("bomb").empty());
}

TEST_F(RunnerTest, WithoutControlGroupsATreeThatGrowsIsEndedToo) {
  place_.mount_info = "";
  StartServer();
  EXPECT_EQ(runner_->Limits().backend, "none");
  // Twenty lines of descent, each of which forks its successor and ends: no look sees the same
  // twice.
  Start(Shell(
      "hydra",
      "trap '' TERM; f() { (sleep 0.003; f) & }; i=0; while [ $i -lt 20 ]; do f; i=$((i+1)); done; "
      "echo ready; while :; do sleep 1; done"));
  AwaitOutside([&] { return Log("hydra").contains("ready"); });
  runner_->Stop("hydra", base::Millis{50});
  EXPECT_EQ(Await<Exited>("hydra").code, 137);
  EXPECT_TRUE(Alive("hydra").empty());
}

}  // namespace
}  // namespace pondage::run
