#include "agent/pod_launcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/replica_env.h"
#include "agent/volumes.h"
#include "base/test_directory.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string ReadText(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest() {
    fs::create_directories(data_);
    MakePython(directory_ / "venv", R"({"python": "3.11.2", "tensorflow": "2.15.1", "keras": ""})");
  }

  // A Python that answers as told.
  static void MakePython(const fs::path& prefix, const std::string& answer) {
    fs::create_directories(prefix / "bin");
    std::ofstream(prefix / "pyvenv.cfg") << "home = /usr/bin\n";
    std::ofstream(prefix / "bin/python") << "#!/bin/sh\necho '" << answer << "'\n";
    fs::permissions(prefix / "bin/python", fs::perms(0755));
  }

  static std::string Pod(const std::string& spec_rest, const std::string& annotations = "") {
    return R"({"metadata": {"name": "mnist-worker-0", "namespace": "ml", "uid": "pod-uid-1", "annotations": {)" +
           annotations + R"("pondage.dev/port": "20001", "pondage.dev/attempt": "2"}}, "spec": {)" +
           spec_rest + "}}";
  }
  static std::string Container(const std::string& rest) {
    return R"("containers": [{"name": "tensorflow", "image": "tensorflow/tensorflow:2.15.1", )" +
           rest + "}]";
  }

  PodLauncher Launcher(LaunchSettings settings = {}) {
    settings.data_dir = data_;
    return {settings,
            [](const std::string& kind, const std::string& space,
               const std::string& name) -> std::optional<std::map<std::string, std::string>> {
              if (space != "ml") return std::nullopt;
              if (kind == "configmaps" && name == "words")
                return {{{"a.txt", "alpha"}, {"b.txt", "beta"}}};
              if (kind == "secrets" && name == "key") return {{{"token", "hush"}}};
              if (kind == "persistentvolumeclaims" && name == "results")
                return {{{"uid", "claim-uid-1"}}};
              return std::nullopt;
            }};
  }

  const base::TestDirectory place_;
  const fs::path directory_ = place_.path();
  fs::path data_ = directory_ / "data";
};

std::string JobWithCopy(const fs::path& copy, const std::string& space = "ml") {
  return R"({"metadata":{"name":"mnist","namespace":")" + space +
         R"(","annotations":{"pondage.dev/workdir":")" + copy.string() + R"("}}})";
}

TEST_F(LauncherTest, AWorkingCopyGoesWithItsJobAndNothingElseDoes) {
  fs::create_directories(data_ / "work/ml.mnist-abc/deep");
  const fs::path kStrange[] = {data_ / "work/ml.other-abc", data_ / "work/ml.mnist-two-abc",
                               data_ / "work/mnist-abc", data_ / "work/ml.mnist-",
                               directory_ / "precious/ml.mnist-abc"};
  for (const fs::path& strange : kStrange) fs::create_directories(strange);
  auto launcher = Launcher();
  launcher.Discard(JobWithCopy(data_ / "work/ml.mnist-abc", "theirs"));  // a manifest copied there
  EXPECT_TRUE(fs::exists(data_ / "work/ml.mnist-abc"));
  launcher.Discard(JobWithCopy(data_ / "work/ml.mnist-abc"));
  EXPECT_FALSE(fs::exists(data_ / "work/ml.mnist-abc"));
  for (const fs::path& strange : kStrange) launcher.Discard(JobWithCopy(strange));
  for (const fs::path& odd :
       {data_ / "work/../../precious/ml.mnist-abc", data_ / "work", data_ / "work/.", fs::path("/"),
        fs::path(), fs::path("work/ml.mnist-abc")}) {
    launcher.Discard(JobWithCopy(odd));
  }
  for (const fs::path& strange : kStrange) EXPECT_TRUE(fs::exists(strange)) << strange;
}

TEST_F(LauncherTest, WhatACrashLeftOfACopyIsRemovedAtTheNextStart) {
  fs::create_directories(data_ / "work/.gone-ml.mnist-abc/deep");
  fs::create_directories(data_ / "work/ml.mnist-xyz");
  const auto launcher = Launcher();
  for (int i = 0; i < 10'000 && fs::exists(data_ / "work/.gone-ml.mnist-abc"); ++i) usleep(1000);
  EXPECT_FALSE(fs::exists(data_ / "work/.gone-ml.mnist-abc"));
  EXPECT_TRUE(fs::exists(data_ / "work/ml.mnist-xyz"));
}

TEST_F(LauncherTest, APodBecomesAProgramOfItsEnvironment) {
  ASSERT_TRUE(Environments(data_).Add("tensorflow/tensorflow:2.15.1", directory_ / "venv"));
  LaunchSettings settings;
  settings.python_dir = "/opt/pondage/python";
  settings.mounts = {{"/srv/data", "/data", true}};
  auto launcher = Launcher(settings);
  const auto launch = launcher.LaunchOf(
      Pod(Container(
          R"json("command": ["python", "train.py"], "args": ["--dir=$(DIR)"], "workingDir": "/srv",
                       "env": [{"name": "DIR", "value": "/data/x"}, {"name": "PATH", "value": "/opt/bin"},
                               {"name": "PONDAGE_CHECKPOINT_DIR", "value": "/data/x/ckpt"}],
                       "resources": {"limits": {"cpu": "1500m", "memory": "2Gi"}})json")),
      3);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->uid, "pod-uid-1");
  EXPECT_EQ(launch->start, 3);
  EXPECT_EQ(launch->argv, (std::vector<std::string>{"python", "train.py", "--dir=/data/x"}));
  EXPECT_EQ(launch->working_dir, "/srv");
  EXPECT_EQ(launch->ports, std::vector<int>{20001});
  EXPECT_EQ(launch->cpu_limit.value, 1500);
  EXPECT_EQ(launch->memory_limit.value, std::int64_t{2} << 30);
  const std::string venv = directory_ / "venv";
  EXPECT_EQ(launch->env.at("PATH"), venv + "/bin:/opt/bin");
  EXPECT_EQ(launch->env.at("VIRTUAL_ENV"), venv);
  EXPECT_EQ(launch->env.at("PYTHONPATH"), "/opt/pondage/python");
  EXPECT_EQ(launch->mounts, (std::vector<port::Mount>{{"/srv/data", "/data", true}}));
  EXPECT_EQ(launch->checkpoint_dir, "/srv/data/x/ckpt");  // where it lies outside of its mounts
}

TEST_F(LauncherTest, RefusesWhatCannotRunHere) {
  auto launcher = Launcher();
  const auto unserved = launcher.LaunchOf(Pod(Container(R"("command": ["true"])")), 0);
  ASSERT_FALSE(unserved);
  EXPECT_EQ(unserved.error().id, "PND-E001");

  const auto moved = launcher.LaunchOf(
      Pod(Container(R"("command": ["true"])"), R"("pondage.dev/environment": "/no/such/prefix", )"),
      0);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().id, "PND-E003");
  EXPECT_FALSE(launcher.LaunchOf("{", 0));
  EXPECT_FALSE(launcher.LaunchOf("[]", 0));
}

TEST_F(LauncherTest, APodMayBringItsOwnInterpreter) {
  auto launcher = Launcher();
  const std::string venv = directory_ / "venv";
  const auto launch = launcher.LaunchOf(
      Pod(Container(R"("command": ["true"])"), R"("pondage.dev/environment": ")" + venv + R"(", )"),
      0);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_TRUE(launch->env.at("PATH").starts_with(venv + "/bin:/usr/local/sbin"));
  EXPECT_EQ(launch->working_dir, data_ / "volumes/pod-uid-1/work");
  EXPECT_TRUE(fs::is_directory(launch->working_dir));
}

TEST_F(LauncherTest, MakesVolumes) {
  ASSERT_TRUE(Environments(data_).Add("tensorflow/tensorflow:2.15.1", directory_ / "venv"));
  auto launcher = Launcher();
  const auto launch = launcher.LaunchOf(
      Pod(R"("volumes": [{"name": "host", "hostPath": {"path": "/srv"}}, {"name": "scratch", "emptyDir": {}},
                         {"name": "words", "configMap": {"name": "words", "items": [{"key": "a.txt", "path": "in/a"}]}},
                         {"name": "key", "secret": {"secretName": "key"}},
                         {"name": "claim", "persistentVolumeClaim": {"claimName": "results"}}], )" +
          Container(R"("command": ["true"], "volumeMounts": [
            {"name": "host", "mountPath": "/host", "readOnly": true}, {"name": "scratch", "mountPath": "/scratch"},
            {"name": "words", "mountPath": "/words"}, {"name": "key", "mountPath": "/key"},
            {"name": "claim", "mountPath": "/out", "subPath": "run/1"}])")),
      0);
  ASSERT_TRUE(launch) << launch.error().message;
  const auto& mounts = launch->mounts;
  ASSERT_EQ(mounts.size(), 5u);
  EXPECT_EQ(mounts[0], (port::Mount{"/srv", "/host", true}));
  EXPECT_EQ(mounts[1].source, data_ / "volumes/pod-uid-1/empty-scratch");
  EXPECT_EQ(ReadText(mounts[2].source + "/in/a"), "alpha");
  EXPECT_FALSE(fs::exists(mounts[2].source + "/b.txt"));
  EXPECT_EQ(ReadText(mounts[3].source + "/token"), "hush");
  struct stat status{};
  ASSERT_EQ(stat(mounts[3].source.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
  EXPECT_EQ(mounts[4].source, data_ / "persistent/claim-uid-1/run/1");
  EXPECT_TRUE(fs::is_directory(mounts[4].source));
}

TEST_F(LauncherTest, PodsOfOneClaimShareItAndOneMayOnlyRead) {
  ASSERT_TRUE(Environments(data_).Add("tensorflow/tensorflow:2.15.1", directory_ / "venv"));
  const auto pod = [](const std::string& uid, const std::string& claim, const std::string& mount) {
    std::string body = Pod(
        R"("volumes": [{"name": "c", "persistentVolumeClaim": {"claimName": )" + claim + "}}], " +
        Container(R"("command": ["true"], "volumeMounts": [{"name": "c", "mountPath": "/out")" +
                  mount + "}]"));
    body.replace(body.find("pod-uid-1"), 9, uid);
    return body;
  };
  auto launcher = Launcher();
  const auto writes = launcher.LaunchOf(pod("one", R"("results")", R"(, "subPath": "run/1")"), 0);
  ASSERT_TRUE(writes) << writes.error().message;
  std::ofstream(writes->mounts[0].source + "/file") << "kept";
  const auto reads =
      launcher.LaunchOf(pod("two", R"("results", "readOnly": true)", R"(, "subPath": "run")"), 0);
  ASSERT_TRUE(reads) << reads.error().message;
  EXPECT_EQ(ReadText(reads->mounts[0].source + "/1/file"), "kept");
  EXPECT_TRUE(reads->mounts[0].read_only);
  EXPECT_FALSE(writes->mounts[0].read_only);
  EXPECT_TRUE(launcher.LaunchOf(pod("three", R"("results")", R"(, "readOnly": true)"), 0)
                  ->mounts[0]
                  .read_only);

  const auto missing = launcher.LaunchOf(pod("four", R"("none")", ""), 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().id, "PND-M008");
  EXPECT_FALSE(fs::exists(data_ / "claims"));
  launcher.DropClaim("claim-uid-1");
  EXPECT_FALSE(fs::exists(reads->mounts[0].source));
}

TEST_F(LauncherTest, AVolumesPathStaysInside) {
  manifest::PodProgram program;
  program.mounts.push_back({.source = manifest::PodProgram::VolumeMount::Source::kEmptyDir,
                            .name = "scratch",
                            .host_path = "",
                            .sub_path = "../../other",
                            .target = "/x",
                            .items = {}});
  const VolumePlace place{data_, "pod-uid-1", "ml", AccountOf(geteuid()), false};
  const auto refused = MakeVolumes(program, place, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "PND-R005");
}

// What a job may leave behind in its volumes never leads the next start outside of them.
TEST_F(LauncherTest, ALinkLeftInAVolumeIsNotFollowed) {
  using Source = manifest::PodProgram::VolumeMount::Source;
  VolumePlace place{data_, "pod-uid-1", "ml", AccountOf(geteuid()), false};
  const auto read = [](const std::string&, const std::string&) {
    return std::optional(std::map<std::string, std::string>{{"key", "planted"}});
  };
  fs::create_directories(directory_ / "precious");
  fs::create_directories(data_ / "volumes/pod-uid-1/empty-scratch");
  fs::create_symlink(directory_ / "precious", data_ / "volumes/pod-uid-1/empty-scratch/in");

  manifest::PodProgram words;
  words.mounts.push_back({.source = Source::kConfigMap,
                          .name = "words",
                          .host_path = "",
                          .sub_path = "",
                          .target = "/words",
                          .items = {{"key", "in/key"}}});
  const auto first = MakeVolumes(words, place, read);
  ASSERT_TRUE(first) << first.error().message;
  const fs::path left = first->front().source;
  fs::remove_all(left / "in");
  fs::create_symlink(directory_ / "precious", left / "in");
  EXPECT_EQ(MakeVolumes(words, place, read)->front().source, left) << "the same start";
  place.start = 1;
  const auto mounts = MakeVolumes(words, place, read);
  ASSERT_TRUE(mounts) << mounts.error().message;
  EXPECT_EQ(ReadText(mounts->front().source + "/in/key"), "planted");
  EXPECT_FALSE(fs::exists(left));

  manifest::PodProgram scratch;
  scratch.mounts.push_back({.source = Source::kEmptyDir,
                            .name = "scratch",
                            .host_path = "",
                            .sub_path = "in/deep",
                            .target = "/x",
                            .items = {}});
  EXPECT_FALSE(MakeVolumes(scratch, place, read));
  EXPECT_TRUE(fs::is_empty(directory_ / "precious"));
}

// As root, for another account. Its number is enough.
class OtherAccountTest : public LauncherTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can run jobs as somebody else";
    fs::permissions(directory_, fs::perms(0755));
    fs::permissions(data_, fs::perms(0711));
    ASSERT_TRUE(Environments(data_).Add("tensorflow/tensorflow:2.15.1", directory_ / "venv"));
    settings_.run_as = Account{kUser, kUser, "somebody", "/"};
  }
  static std::string WithHostPath(const fs::path& path, const std::string& sub_path = "") {
    return Pod(R"("volumes": [{"name": "host", "hostPath": {"path": ")" + path.string() +
               R"("}}], )" +
               Container(R"("command": ["true"], "volumeMounts": [{"name": "host", "subPath": ")" +
                         sub_path + R"(", "mountPath": "/host"}])"));
  }
  static uid_t OwnerOf(const fs::path& path) {
    struct stat status{};
    return lstat(path.c_str(), &status) == 0 ? status.st_uid : uid_t(-1);
  }

  static constexpr uid_t kUser = 54'321;
  LaunchSettings settings_;
};

TEST_F(OtherAccountTest, AHostPathIsBoundOnlyWhereTheAccountMayGo) {
  fs::create_directories(directory_ / "closed/inner");
  fs::permissions(directory_ / "closed", fs::perms(0700));
  fs::create_directories(directory_ / "open/sub");
  fs::create_symlink(directory_ / "closed/inner", directory_ / "open/link");
  auto launcher = Launcher(settings_);
  const pid_t other = fork();  // root's, with the capabilities that this process has
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  struct Row {
    fs::path path;
    const char* sub_path;
    bool allowed;
  };
  const Row kRows[] = {{directory_ / "open", "", true},
                       {directory_ / "open", "sub", true},
                       {directory_ / "closed", "", true},  // its own mode keeps the account out
                       {directory_ / "closed/inner", "", false},
                       {directory_ / "closed", "inner", false},
                       {directory_ / "open/link", "", false},
                       {directory_ / "open", "link", false},
                       {"/proc/1/root", "", false},
                       {"/proc/" + std::to_string(other) + "/root", "", false},
                       {directory_ / "missing", "", false}};
  for (const Row& row : kRows) {
    const auto launch = launcher.LaunchOf(WithHostPath(row.path, row.sub_path), 0);
    EXPECT_EQ(launch.has_value(), row.allowed) << row.path << " " << row.sub_path;
    if (launch) {
      EXPECT_TRUE(launch->mounts.front().expected) << row.path;
    } else {
      EXPECT_EQ(launch.error().id, "PND-R005");
    }
  }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_EQ(geteuid(), 0u);
  EXPECT_TRUE(fs::exists(directory_ / "closed/inner"));  // we still are who we were
}

TEST_F(OtherAccountTest, AHostPathIsWhatItsTypeSaysAndIsMadeByTheAccount) {
  fs::create_directories(directory_ / "mine/dir");
  ASSERT_EQ(chown((directory_ / "mine").c_str(), kUser, kUser), 0);
  fs::create_directories(directory_ / "roots");
  std::ofstream(directory_ / "mine/file") << "";
  fs::create_symlink(directory_ / "roots", directory_ / "mine/link");
  struct Row {
    const char* path;
    const char* type;
    bool allowed;
  };
  const Row kRows[] = {{"mine/dir", "", true},
                       {"mine/dir", "Directory", true},
                       {"mine/file", "Directory", false},
                       {"mine/file", "File", true},
                       {"mine/dir", "File", false},
                       {"mine/file", "Socket", false},
                       {"mine/none", "Directory", false},
                       {"mine/none", "File", false},
                       {"mine/new/deep", "DirectoryOrCreate", true},
                       {"mine/new/deep", "DirectoryOrCreate", true},
                       {"mine/new-file", "FileOrCreate", true},
                       {"mine/nowhere/new-file", "FileOrCreate", false},
                       {"roots/new", "DirectoryOrCreate", false},
                       {"roots/new", "FileOrCreate", false},
                       {"mine/link/new", "DirectoryOrCreate", false},
                       {"mine/file/new", "DirectoryOrCreate", false},
                       {"data/replicas", "DirectoryOrCreate", false},
                       {"mine/../data/replicas", "DirectoryOrCreate", false}};
  auto launcher = Launcher(settings_);
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.path) + " " + row.type);
    std::string pod = WithHostPath(directory_ / row.path);
    pod.insert(pod.find(R"("path")"), std::string(R"("type": ")") + row.type + "\", ");
    const auto launch = launcher.LaunchOf(pod, 0);
    EXPECT_EQ(launch.has_value(), row.allowed) << (launch ? "" : launch.error().message);
    if (launch) {
      EXPECT_TRUE(launch->mounts.front().expected);
    } else {
      EXPECT_EQ(launch.error().id, "PND-R005");
    }
  }
  EXPECT_EQ(OwnerOf(directory_ / "mine/new"), kUser);
  EXPECT_EQ(OwnerOf(directory_ / "mine/new/deep"), kUser);
  EXPECT_EQ(OwnerOf(directory_ / "mine/new-file"), kUser);
  EXPECT_TRUE(fs::is_empty(directory_ / "roots"));
}

TEST_F(OtherAccountTest, VolumesAreTheGroupsThatThePodNames) {
  constexpr gid_t kTeam = 64'000;
  settings_.run_as->groups = {kTeam};
  const auto pod = [](const std::string& security) {
    return Pod(
        R"("securityContext": {)" + security +
        R"(}, "volumes": [{"name": "s", "emptyDir": {}}, {"name": "c", "persistentVolumeClaim":
                 {"claimName": "results"}}], )" +
        Container(R"("command": ["true"], "volumeMounts": [
                 {"name": "s", "mountPath": "/s"}, {"name": "c", "mountPath": "/c", "subPath": "a/b"}])"));
  };
  auto launcher = Launcher(settings_);
  const auto plain = launcher.LaunchOf(pod(""), 0);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->group_ids, (std::vector<std::uint32_t>{kUser, kTeam}));
  struct stat status{};
  const fs::path claim = data_ / "persistent/claim-uid-1";
  ASSERT_EQ(stat(claim.c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, kUser);
  EXPECT_EQ(status.st_uid, kUser);

  fs::remove_all(claim / "a");
  const auto shared = launcher.LaunchOf(pod(R"("fsGroup": 64000)"), 1);
  ASSERT_TRUE(shared) << shared.error().message;
  for (const fs::path& path :
       {fs::path(shared->mounts[0].source), claim, claim / "a", claim / "a/b"}) {
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_gid, kTeam) << path;
    EXPECT_EQ(status.st_uid, kUser) << path;
    EXPECT_EQ(status.st_mode & 07777u, 02775u) << path;
  }
  EXPECT_FALSE(launcher.LaunchOf(pod(R"("fsGroup": 0)"), 2));
  EXPECT_FALSE(launcher.LaunchOf(pod(R"("supplementalGroups": [0])"), 2));
}

TEST_F(OtherAccountTest, AClaimThatRootsJobsUsedGoesOnAsTheAccounts) {
  fs::create_directories(data_ / "persistent/claim-uid-1");
  const std::string pod =
      Pod(R"("volumes": [{"name": "c", "persistentVolumeClaim": {"claimName": "results"}}], )" +
          Container(R"("command": ["true"], "volumeMounts": [{"name": "c", "mountPath": "/c"}])"));
  ASSERT_TRUE(Launcher(settings_).LaunchOf(pod, 0));
  EXPECT_EQ(OwnerOf(data_ / "persistent/claim-uid-1"), kUser);
  ASSERT_EQ(chown((data_ / "persistent/claim-uid-1").c_str(), kUser + 1, kUser + 1), 0);
  ASSERT_TRUE(Launcher(settings_).LaunchOf(pod, 1));
  EXPECT_EQ(OwnerOf(data_ / "persistent/claim-uid-1"), kUser + 1) << "another's stays another's";
}

TEST_F(OtherAccountTest, AUserThatAPodChoosesGetsNoGroupsBesideThoseItNames) {
  settings_.run_as.reset();
  auto launcher = Launcher(settings_);
  const auto launch = launcher.LaunchOf(
      Pod(R"("securityContext": {"runAsUser": 54321, "supplementalGroups": [7]}, )" +
          Container(
              R"("command": ["true"], "securityContext": {"allowPrivilegeEscalation": false})")),
      0);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->user_id, kUser);
  EXPECT_EQ(launch->group_ids, (std::vector<std::uint32_t>{kUser, 7}));
  EXPECT_TRUE(launch->no_new_privileges);
  const auto root = launcher.LaunchOf(Pod(Container(R"("command": ["true"])")), 0);
  ASSERT_TRUE(root);
  EXPECT_FALSE(root->user_id || root->group_ids || root->no_new_privileges);
}

TEST_F(OtherAccountTest, ItsOwnGroupsCount) {
  // The group that the account has by its entry; here it has none but its own.
  fs::create_directories(directory_ / "team/inner");
  fs::permissions(directory_ / "team", fs::perms(0750));
  ASSERT_EQ(chown((directory_ / "team").c_str(), 0, kUser), 0);
  EXPECT_TRUE(Launcher(settings_).LaunchOf(WithHostPath(directory_ / "team/inner"), 0));
  ASSERT_EQ(chown((directory_ / "team").c_str(), 0, kUser + 1), 0);
  EXPECT_FALSE(Launcher(settings_).LaunchOf(WithHostPath(directory_ / "team/inner"), 0));
}

TEST_F(OtherAccountTest, TheCopyThatRootMadeBecomesTheAccounts) {
  const fs::path copy = data_ / "work/ml.mnist-abc";
  fs::create_directories(copy / "deep");
  std::ofstream(copy / "deep/train.py") << "";
  fs::create_symlink("/etc/passwd", copy / "link");
  std::ofstream(directory_ / "precious") << "";
  fs::create_hard_link(directory_ / "precious", copy / "second-name");
  fs::create_directories(data_ / "work/ml.other-abc");
  auto launcher = Launcher(settings_);
  const auto launch = [&](const fs::path& where) {
    std::string pod =
        Pod(Container(R"("command": ["true"], "workingDir": ")" + where.string() + "\""));
    pod.insert(pod.find(R"("annotations")"),
               R"("labels": {"training.kubeflow.org/job-name": "mnist"}, )");
    return launcher.LaunchOf(pod, 0);
  };
  ASSERT_TRUE(launch(copy / "deep"));
  for (const fs::path& path : {copy, copy / "deep", copy / "deep/train.py", copy / "link"}) {
    EXPECT_EQ(OwnerOf(path), kUser) << path;
  }
  EXPECT_EQ(OwnerOf(directory_ / "precious"), 0u);
  EXPECT_EQ(OwnerOf("/etc/passwd"), 0u);
  ASSERT_TRUE(launch(data_ / "work/ml.other-abc"));
  EXPECT_EQ(OwnerOf(data_ / "work/ml.other-abc"), 0u);
}

// Members of a job start at once; the first one's program may change the copy while it is given to
// the others. Nothing that goes is a failure, and no link that comes leads out.
TEST_F(OtherAccountTest, ACopyMayChangeWhileItIsGiven) {
  const fs::path copy = data_ / "work/ml.mnist-abc";
  fs::create_directories(directory_ / "precious/inner");
  std::ofstream(directory_ / "precious/inner/file") << "";
  for (int i = 0; i < 20; ++i) fs::create_directories(copy / std::to_string(i) / "inner");
  fs::create_symlink(directory_ / "precious", copy / "link");
  fs::create_directories(copy / "real/inner");
  const WorkCopies copies(data_);
  std::atomic<bool> end = false;
  std::thread changes([&] {
    for (int i = 0; !end; i = (i + 1) % 20) {
      const fs::path one = copy / std::to_string(i);
      fs::remove_all(one);
      fs::create_directories(one / "inner");
      std::ofstream(one / "inner/file") << "";
      renameat2(AT_FDCWD, (copy / "link").c_str(), AT_FDCWD, (copy / "real").c_str(),
                RENAME_EXCHANGE);
    }
  });
  for (int round = 0; round < 200; ++round) {
    const auto given = copies.Give(copy, *settings_.run_as);
    EXPECT_TRUE(given) << given.error().message;
    EXPECT_EQ(OwnerOf(copy), kUser);
    EXPECT_EQ(chown(copy.c_str(), 0, 0), 0);
  }
  end = true;
  changes.join();
  for (const char* path : {"precious", "precious/inner", "precious/inner/file"})
    EXPECT_EQ(OwnerOf(directory_ / path), 0u) << path;
  EXPECT_TRUE(copies.Give(data_ / "work/ml.gone-abc", *settings_.run_as)) << "it is no more";
}

// Whether there is something where the account may not look, it is not told.
TEST_F(OtherAccountTest, WhatTheAccountMayNotSeeItIsToldNothingAbout) {
  fs::create_directories(directory_ / "closed/there");
  std::ofstream(directory_ / "closed/file") << "";
  fs::create_symlink(data_, directory_ / "closed/data");
  fs::permissions(directory_ / "closed", fs::perms(0700));
  auto launcher = Launcher(settings_);
  for (const char* type :
       {"", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"}) {
    const auto told = [&](const std::string& name) {
      const std::string path = directory_ / "closed" / name;
      std::string pod = WithHostPath(path);
      pod.insert(pod.find(R"("path")"), std::string(R"("type": ")") + type + "\", ");
      const auto launch = launcher.LaunchOf(pod, 0);
      EXPECT_FALSE(launch) << path;
      std::string message = launch ? "" : launch.error().message;
      const auto at = message.find(path);
      return at == std::string::npos ? message : message.replace(at, path.size(), "PATH");
    };
    const std::string nothing = told("nothing");
    for (const char* name : {"there", "file", "data", "there/deep"})
      EXPECT_EQ(told(name), nothing) << name << " " << type;
  }
  EXPECT_FALSE(fs::exists(directory_ / "closed/nothing"));
}

// Links lead to the data directory by other names than the one that the server was given.
TEST_F(LauncherTest, TheServersOwnFilesAreItsUnderEveryName) {
  fs::create_directories(directory_ / "disk/pool/persistent");
  fs::create_directories(directory_ / "disk/pool/work/ml.mnist-abc");
  fs::create_symlink(directory_ / "disk", directory_ / "link");
  fs::create_symlink(directory_ / "link", directory_ / "other");
  data_ = directory_ / "link/pool";
  ASSERT_TRUE(Environments(data_).Add("tensorflow/tensorflow:2.15.1", directory_ / "venv"));
  auto launcher = Launcher();
  for (const char* way : {"disk", "link", "other"}) {
    for (const auto& [inner, allowed] : {std::pair("pool", false),
                                         {"pool/persistent", false},
                                         {"pool/work", false},
                                         {"pool/tokens.json", false},
                                         {"pool/work/ml.mnist-abc", true}}) {
      const std::string path = directory_ / way / inner;
      const auto launch = launcher.LaunchOf(
          Pod(R"("volumes": [{"name": "host", "hostPath": {"path": ")" + path + R"("}}], )" +
              Container(
                  R"("command": ["true"], "volumeMounts": [{"name": "host", "mountPath": "/h"}])")),
          0);
      EXPECT_EQ(launch.has_value(), allowed) << path;
      if (way == std::string("other")) continue;  // what its links are, a launch sees
      const auto shows =
          launcher.MayAsk({.path = "spec", .account = {}, .mounts = {{"m", "/h", path}}});
      EXPECT_EQ(shows.has_value(), allowed) << path;
      const auto stands =
          launcher.MayAsk({.path = "spec", .account = {}, .mounts = {{"m", path, ""}}});
      EXPECT_EQ(stands.has_value(), allowed) << path;
    }
  }
}

TEST_F(LauncherTest, NoVolumeStandsOverTheServersOwnFiles) {
  ASSERT_TRUE(Environments(data_).Add("tensorflow/tensorflow:2.15.1", directory_ / "venv"));
  const std::pair<std::string, bool> kRows[] = {{"/in", true},
                                                {data_ / "work/ml.mnist-abc/in", true},
                                                {data_, false},
                                                {data_.string() + "//", false},
                                                {directory_, false},
                                                {"/usr/", false},
                                                {"/etc", false},
                                                {"/etc/mine", true},
                                                {data_ / "replicas", false},
                                                {data_ / "tokens.json", false}};
  for (const auto& [target, allowed] : kRows) {
    auto launcher = Launcher();
    const auto launch = launcher.LaunchOf(
        Pod(Container(R"("command": ["true"], "volumeMounts": [{"name": "v", "mountPath": ")" +
                      target + "\"}]") +
            R"(, "volumes": [{"name": "v", "emptyDir": {}}])"),
        0);
    EXPECT_EQ(launch.has_value(), allowed) << target;
    if (!launch) {
      EXPECT_EQ(launch.error().id, "PND-R005");
    }
  }
}

// What the launch refuses is refused before, with the place in the document.
TEST_F(LauncherTest, WhatThisMachineDoesNotGiveIsToldAtOnce) {
  auto launcher = Launcher();
  const auto ask = [](const std::string& target, const std::string& host_path) {
    return manifest::RoleAsk{
        .path = "spec", .account = {}, .mounts = {{"spec.mount", target, host_path}}};
  };
  const std::tuple<std::string, std::string, const char*> kRows[] = {
      {"/in", "", ""},
      {"/in", "/srv", ""},
      {"/in", data_ / "work/ml.mnist-abc", ""},
      {"/in", data_ / "work", "spec.mount"},
      {"/in", data_, "spec.mount"},
      {"/in", data_ / "persistent/claim-uid-1", "spec.mount"},
      {"/etc", "", "spec.mount.mountPath"},
      {data_, "", "spec.mount.mountPath"},
      {data_ / "replicas", "", "spec.mount.mountPath"},
      {directory_, "/srv", "spec.mount.mountPath"}};
  for (const auto& [target, host_path, where] : kRows) {
    const auto may = launcher.MayAsk(ask(target, host_path));
    EXPECT_EQ(may ? "" : may.error().object, std::string(where)) << target << " " << host_path;
  }
  manifest::RoleAsk drops{
      .path = "spec", .account = {.user = 54'321, .non_root = true}, .mounts = {}};
  EXPECT_EQ(launcher.MayAsk(drops).has_value(), geteuid() == 0);
}

TEST(OnThisMachine, TheNearestMountDecides) {
  const std::vector<port::Mount> mounts = {{"/a", "/data", false}, {"/b", "/data/inner", false}};
  EXPECT_EQ(OnThisMachine("/data/x", mounts), "/a/x");
  EXPECT_EQ(OnThisMachine("/data/inner/x", mounts), "/b/x");
  EXPECT_EQ(OnThisMachine("/data/innermost", mounts), "/a/innermost");
  EXPECT_EQ(OnThisMachine("/data", mounts), "/a");
  EXPECT_EQ(OnThisMachine("/other", mounts), "/other");
  EXPECT_EQ(OnThisMachine("/data/../srv/x", mounts), "/srv/x");
  EXPECT_EQ(OnThisMachine("/data/./y/../inner//x/", mounts), "/b/x");
  EXPECT_EQ(OnThisMachine("/other/../data/x", mounts), "/a/x");
}

}  // namespace
}  // namespace pondage::agent
