// Launches whose paths lie where nothing answers: whoever waits is told which.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "agent/pod_launcher.h"
#include "base/test_directory.h"
#include "run/touching.h"
#include "shim/descriptor.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

class HangingTest : public ::testing::Test {
 protected:
  HangingTest() {
    for (const char* inner : {"data", "venv/bin", "away"})
      fs::create_directories(directory_ / inner);
    fs::permissions(directory_, fs::perms(0755));
    std::ofstream(directory_ / "venv/bin/python") << "";
    fs::permissions(directory_ / "venv/bin/python", fs::perms(0755));
    Mount();
  }
  ~HangingTest() override { Revive(); }

  std::string away() const { return directory_ / "away"; }

  // FUSE with nobody behind it.
  void Mount() {
    device_ = shim::Descriptor(open("/dev/fuse", O_RDWR | O_CLOEXEC));
    const std::string options =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    mounted_ = device_ && mount("dead", away().c_str(), "fuse", 0, options.c_str()) == 0;
  }
  void Revive() {  // all that hangs there is told that it is gone
    device_ = shim::Descriptor();
    if (std::exchange(mounted_, false)) umount2(away().c_str(), MNT_DETACH);
  }

  // What is said of a launch that does not get on; empty: it came to its end.
  std::string HangsAt(const LaunchSettings& settings, const std::string& pod) {
    PodLauncher launcher(settings, [](const auto&...) { return std::nullopt; });
    run::Touched touched;
    std::atomic<bool> ended = false;
    std::thread launches([&] {
      const run::Touched::Listening listening(touched);
      const auto launch = launcher.LaunchOf(pod, 0);
      ended = true;
    });
    // It says what it touches before it does, and hangs there: what is the same for so long is it.
    std::string said;
    for (int same = 0; same < 200 && !ended; usleep(1000)) {
      const std::string now = touched.what();
      same = now == said ? same + 1 : 0;
      said = now;
    }
    const bool hangs = !ended;
    Revive();
    launches.join();
    Mount();
    return hangs ? said : "";
  }

  const base::TestDirectory place_;
  const fs::path directory_ = place_.path();
  shim::Descriptor device_;
  bool mounted_ = false;
};

TEST_F(HangingTest, APathThatDoesNotAnswerIsNamed) {
  if (!mounted_) GTEST_SKIP() << "only root mounts a FUSE file system by hand";
  const auto pod = [this](const std::string& prefix, const std::string& path,
                          const std::string& more) {
    return R"({"metadata": {"name": "p", "namespace": "ml", "uid": "uid-1", "annotations":
               {"pondage.dev/environment": ")" +
           prefix + R"("}}, "spec": {"volumes": [{"name": "v", "hostPath": {"path": ")" + path +
           "\"" + more + R"(}}], "containers": [{"name": "tensorflow", "image": "any",
               "command": ["true"], "volumeMounts": [{"name": "v", "mountPath": "/data"}]}]}})";
  };
  const std::string venv = directory_ / "venv";
  const std::pair<std::string, std::string> kRows[] = {
      {away(), pod(venv, away(), "")},
      {away() + "/set", pod(venv, away() + "/set", "")},
      {away(), pod(venv, away(), R"(, "type": "Directory")")},
      {away() + "/new", pod(venv, away() + "/new", R"(, "type": "DirectoryOrCreate")")},
      {away() + "/new", pod(venv, away() + "/new", R"(, "type": "FileOrCreate")")},
      {away() + "/venv", pod(away() + "/venv", "/srv", "")}};
  for (const bool as_somebody : {false, true}) {
    LaunchSettings settings;
    settings.data_dir = directory_ / "data";
    if (as_somebody) settings.run_as = Account{54'321, 54'321, "somebody", "/"};
    for (const auto& [path, body] : kRows) EXPECT_EQ(HangsAt(settings, body), path) << body;
  }
}

}  // namespace
}  // namespace pondage::agent
