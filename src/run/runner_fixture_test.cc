#include "run/runner_fixture_test.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "run/log_files.h"
#include "run/remnants.h"
#include "run/replica_dir.h"
#include "shim/process_tree.h"

namespace pondage::run {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

}  // namespace

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void Touch(const std::string& path) {
  const std::ofstream file(path);
  EXPECT_TRUE(file) << path;
}

base::Instant WallClock::Now() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

RunnerTest::RunnerTest(const std::string& below) : directory_(below), data_(directory_.path()) {
  settings_.data_dir = data_;
  settings_.shim = std::string(PONDAGE_BIN_DIR) + "/pondage-shim";
  place_ = ThisMachine();
  place_.name = std::filesystem::path(data_).filename();
  StartServer();
}

RunnerTest::~RunnerTest() {
  EndServer();
  for (const auto& entry : std::filesystem::directory_iterator(data_ + "/replicas")) {
    const std::string uid = entry.path().filename();
    // The shims first, or they would see their programs die and write to the directory.
    for (const shim::Process& process : shim::ReadProcesses()) {
      std::error_code error;
      const auto cwd =
          std::filesystem::read_symlink("/proc/" + std::to_string(process.pid) + "/cwd", error);
      if (cwd == entry.path()) shim::Signal(process, SIGKILL);
    }
    EXPECT_TRUE(KillRemnants(uid));
    const auto cgroups = FindCgroups(place_);
    cgroups->Kill(uid);
    AwaitOutside([&] { return cgroups->Remove(uid) && Alive(uid).empty(); });
  }
  for (const char* controller : {"memory", "cpu", "pids", "freezer", "unified"}) {
    rmdir(("/sys/fs/cgroup/" + std::string(controller) + "/" + place_.name).c_str());
  }
  rmdir(("/sys/fs/cgroup/" + place_.name).c_str());
}

void RunnerTest::StartServer() {
  runner_.reset();
  std::filesystem::create_directories(data_ + "/replicas");
  runner_ = std::make_unique<ShimRunner>(settings_, FindCgroups(place_), clock_);
  {
    const std::lock_guard lock(mutex_);
    readings_.clear();
  }
  runner_->Listen([this](port::Reading reading) {
    const std::lock_guard lock(mutex_);
    readings_.push_back(std::move(reading));
    changed_.notify_all();
  });
}

port::Launch RunnerTest::Program(const std::string& uid, std::vector<std::string> argv) {
  port::Launch launch;
  launch.uid = uid;
  launch.argv = std::move(argv);
  launch.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  launch.working_dir = "/";
  return launch;
}

port::Launch RunnerTest::Shell(const std::string& uid, const std::string& script) {
  return Program(uid, {"sh", "-c", script});
}

void RunnerTest::AwaitThat(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_);
  ASSERT_TRUE(changed_.wait_for(lock, kPatience, condition)) << "what was awaited never came";
}

void RunnerTest::AwaitOutside(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "what was awaited never came";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string RunnerTest::Log(const std::string& uid, int start) const {
  const auto chunk = LogFiles(data_).Read(uid, start, 0, 1 << 20);
  return chunk ? chunk->bytes : "(" + chunk.error().message + ")";
}

pid_t RunnerTest::ShimOf(const std::string& uid) const {
  pid_t shim = 0;
  AwaitOutside([&] {
    const auto holders = HoldersOf(ReplicaDir(data_, uid).File("lock"));
    if (!holders.empty()) shim = holders.front().pid;
    return shim > 0;
  });
  return shim;
}

std::vector<pid_t> RunnerTest::Alive(const std::string& uid) {
  std::vector<pid_t> alive;
  for (const shim::Process& process : shim::ReadProcesses()) {
    if (process.state == 'Z') continue;
    const std::string environment = ReadText("/proc/" + std::to_string(process.pid) + "/environ");
    if (environment.contains("PONDAGE_POD=" + uid + '\0')) alive.push_back(process.pid);
  }
  return alive;
}

}  // namespace pondage::run
