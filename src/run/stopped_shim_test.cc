// Shims that do not do what they are told, since a program of their account sees to it.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "run/runner_fixture_test.h"
#include "shim/descriptor.h"
#include "shim/process_tree.h"
#include "shim/wire.h"

namespace pondage::run {
namespace {

using port::Exited;
using port::Started;

class StoppedShim : public RunnerTest {
 protected:
  StoppedShim() {
    settings_.stopped_ms = 200;
    settings_.working_ms = 3'600'000;
    StartServer();
  }

  // Without control groups where `bare`.
  void StartServerWith(bool bare) {
    place_ = ThisMachine();
    place_.name = std::filesystem::path(data_).filename();
    if (bare) place_.mount_info = "";
    StartServer();
    runner_->Adopt({});
  }

  void AwaitState(pid_t pid, char state) {
    AwaitOutside([&] {
      const auto process = shim::ReadProcess(pid);
      return process && process->state == state;
    });
  }
  bool IsGone(pid_t pid) {
    const auto process = shim::ReadProcess(pid);
    return !process || process->state == 'Z';
  }
};

TEST_F(StoppedShim, KeepsNothing) {
  struct Row {
    const char* says;
    const char* script;  // the shim is its parent; $0 is a file for a pid
  };
  const Row kRows[] = {
      {"it runs on", "kill -STOP $PPID; sleep 1000"},
      {"it ends, and is not waited for", "kill -STOP $PPID"},
      {"it is deaf", "trap '' TERM; kill -STOP $PPID; while :; do sleep 0.05; done"},
      {"its child hides",
       "env -i setsid sh -c 'echo $$ >$0; while :; do sleep 0.05; done' $0 & "
       "while [ ! -s $0 ]; do sleep 0.01; done; kill -STOP $PPID; sleep 1000"},
  };
  const auto uid_of = [](const Row& row, bool bare, bool kill) {
    return "s-" + std::to_string(std::string_view(row.script).size()) + (bare ? "-bare" : "") +
           (kill ? "-kill" : "");
  };
  for (const bool bare : {false, true}) {
    StartServerWith(bare);
    const auto each = [&](const std::function<void(const Row&, const std::string&, bool)>& visit) {
      for (const Row& row : kRows) {
        for (const bool kill : {false, true}) visit(row, uid_of(row, bare, kill), kill);
      }
    };
    each([&](const Row& row, const std::string& uid, bool) {
      Start(Program(uid, {"sh", "-c", row.script, data_ + "/" + uid + ".pid"}));
    });
    each([&](const Row&, const std::string& uid, bool kill) {
      AwaitState(ShimOf(uid), 'T');
      kill ? runner_->Kill(uid) : runner_->Stop(uid, base::Millis{50});
    });
    each([&](const Row& row, const std::string& uid, bool) {
      const std::string says = std::string(row.says) + " " + uid;
      const auto exited = Await<Exited>(uid);
      EXPECT_EQ(exited.code, 137) << says;
      EXPECT_EQ(exited.reason, "Error") << says;
      EXPECT_EQ(exited.message, "its shim did not end it in time and was killed with it") << says;
      EXPECT_TRUE(Alive(uid).empty()) << says;
      const std::string hidden = ReadText(data_ + "/" + uid + ".pid");
      EXPECT_TRUE(hidden.empty() || IsGone(std::stoi(hidden))) << says;
    });
  }
}

// A program that may trace its shim takes the lock out of it, and hides.
TEST_F(StoppedShim, WhoseLockWasTakenHoldsNothing) {
  for (const bool bare : {false, true}) {
    StartServerWith(bare);
    const std::string uid = bare ? "robbed-bare" : "robbed";
    Start(Shell(uid, "sleep 1000"));
    Await<Started>(uid);
    const pid_t shim = ShimOf(uid);
    pid_t thief = 0;
    {
      const shim::Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, shim, 0)));
      const shim::Descriptor lock(static_cast<int>(syscall(SYS_pidfd_getfd, handle.get(), 3, 0)));
      ASSERT_TRUE(lock) << std::strerror(errno);
      thief = fork();
      if (thief == 0) {
        dup2(lock.get(), 400);
        close(lock.get());
        for (;;) pause();
      }
    }
    kill(shim, SIGKILL);
    runner_->Kill(uid);
    EXPECT_EQ(Await<Exited>(uid).code, 137);
    EXPECT_TRUE(Alive(uid).empty());
    EXPECT_EQ(waitpid(thief, nullptr, 0), thief);
  }
}

// One that is broken: it holds the lock, is heard, and ends nothing.
TEST_F(StoppedShim, ThatIsAtWorkInVainIsEndedWithItsProgram) {
  const std::string shim = data_ + "/broken-shim";
  std::ofstream(shim) << "#!/bin/sh\nsleep 1000 3<&- &\necho $! >child\nexec sleep 1000\n";
  std::filesystem::permissions(shim, std::filesystem::perms::owner_all);
  settings_.shim = shim;
  settings_.working_ms = 400;
  StartServer();
  Start(Shell("vain", "true"));
  const std::string child = data_ + "/replicas/vain/child";
  AwaitOutside([&] { return ReadText(child).ends_with('\n'); });
  const shim::Descriptor link(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (data_ + "/agent.sock").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(link.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  shim::State state;
  state.uid = "vain";
  state.pid = std::stoi(ReadText(child));
  const std::string words = shim::Encode(state);
  ASSERT_EQ(send(link.get(), words.data(), words.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(words.size()));
  Await<Started>("vain");
  runner_->Kill("vain");
  EXPECT_EQ(Await<Exited>("vain").code, 137);
  EXPECT_TRUE(IsGone(static_cast<pid_t>(state.pid)));
}

TEST_F(StoppedShim, IsKilledWhenItIsTraced) {
  Start(Shell("traced", "sleep 1000"));
  Await<Started>("traced");
  const pid_t shim = ShimOf("traced");
  if (ptrace(PTRACE_SEIZE, shim, nullptr, nullptr) != 0) GTEST_SKIP() << "nothing may be traced";
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, shim, nullptr, nullptr), 0);
  AwaitState(shim, 't');
  runner_->Kill("traced");
  EXPECT_EQ(Await<Exited>("traced").code, 137);
  EXPECT_TRUE(Alive("traced").empty());
}

TEST_F(StoppedShim, IsLeftAloneWhileNothingIsAskedOfIt) {
  Start(Shell("left", "sleep 1000"));
  Await<Started>("left");
  const pid_t shim = ShimOf("left");
  kill(shim, SIGSTOP);
  AwaitState(shim, 'T');
  runner_->Stop("left", base::Millis{3'600'000});  // not due
  for (int i = 0; i < 3; ++i) {                    // a look a second
    const std::string uid = "meanwhile-" + std::to_string(i);
    Start(Shell(uid, "sleep 0.7"));
    Await<Exited>(uid);
  }
  EXPECT_EQ(Count<Exited>("left"), 0u);
  EXPECT_FALSE(Alive("left").empty());
  kill(shim, SIGCONT);  // and goes on as if nothing had been
  EXPECT_EQ(Await<Exited>("left").code, 143);
}

TEST_F(StoppedShim, IsFoundByTheNextServer) {
  for (const bool known : {true, false}) {
    const std::string uid = known ? "known" : "unknown";
    Start(Shell(uid, "kill -STOP $PPID; sleep 1000"));
    AwaitState(ShimOf(uid), 'T');
    StartServer();
    if (known) {
      runner_->Adopt({{uid, 0, ""}});
      runner_->Kill(uid);
      EXPECT_EQ(Await<Exited>(uid).code, 137);
    } else {
      runner_->Adopt({});
      runner_->Erase(uid);  // as whoever searches for what nobody owns does
      AwaitOutside([&] { return !std::filesystem::exists(data_ + "/replicas/" + uid); });
      EXPECT_EQ(Count<Exited>(uid), 0u);
    }
    EXPECT_TRUE(Alive(uid).empty());
  }
}

TEST_F(StoppedShim, ThatLostItsConnectionHearsOfItsOrdersAgain) {
  settings_.stopped_ms = 3'600'000;  // it has to do it itself
  StartServer();
  Start(Shell("cut", "sleep 1000"));
  Await<Started>("cut");
  const pid_t shim = ShimOf("cut");
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, shim, 0));
  int cut = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(shim) + "/fd")) {
    const int number = std::stoi(entry.path().filename());
    const shim::Descriptor theirs(static_cast<int>(syscall(SYS_pidfd_getfd, handle, number, 0)));
    int type = 0;
    socklen_t size = sizeof(type);
    if (theirs && getsockopt(theirs.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET && shutdown(theirs.get(), SHUT_RDWR) == 0) {
      ++cut;
    }
  }
  close(handle);
  EXPECT_EQ(cut, 1);
  runner_->Kill("cut");
  EXPECT_EQ(Await<Exited>("cut").message, "was killed");
}

// Its program has ended and nothing is left to kill: it waits until how that was can be written.
class FullDisk : public StoppedShim {
 protected:
  FullDisk() : place_of_disk_(data_ + "/replicas") {
    EndServer();
    mounted_ = mount("small", place_of_disk_.c_str(), "tmpfs", 0, "size=1m") == 0;
    StartServer();
  }
  ~FullDisk() override {
    if (!mounted_) return;
    EndServer();
    std::filesystem::remove_all(place_of_disk_ + "/full");
    umount2(place_of_disk_.c_str(), MNT_DETACH);
  }
  const std::string place_of_disk_;
  bool mounted_ = false;
};

TEST_F(FullDisk, KeepsAShimFromEndingAndItsExitIsNotLost) {
  if (!mounted_) GTEST_SKIP() << "only root mounts a small disk";
  settings_.working_ms = 300;
  StartServer();
  Start(Shell("full", "while [ ! -e " + data_ + "/go ]; do sleep 0.01; done; exit 9"));
  Await<Started>("full");
  const pid_t shim = ShimOf("full");
  {
    std::ofstream ballast(place_of_disk_ + "/ballast");
    const std::string block(4096, 'x');
    while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  Touch(data_ + "/go");
  AwaitOutside([&] { return shim::Below(shim, shim::ReadProcesses()).empty(); });
  runner_->Kill("full");
  for (int i = 0; i < 3; ++i) {  // a look a second
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
  }
  EXPECT_EQ(Count<Exited>("full"), 0u);
  std::filesystem::remove(place_of_disk_ + "/ballast");
  EXPECT_EQ(Await<Exited>("full").code, 9);
}

}  // namespace
}  // namespace pondage::run
