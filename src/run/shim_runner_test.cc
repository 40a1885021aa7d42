#include "run/shim_runner.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include "run/log_files.h"
#include "run/reactor.h"
#include "run/replica_dir.h"
#include "run/runner_fixture_test.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

using port::Exited;
using port::NotStarted;
using port::Said;
using port::Saved;
using port::Started;

// What a server leaves that was about to start it, or did.
ReplicaDir WriteSpec(const std::string& data, const std::string& uid, const std::string& boot_id) {
  const ReplicaDir directory(data, uid);
  EXPECT_TRUE(directory.Make());
  shim::Spec spec;
  spec.uid = uid;
  spec.argv = {"true"};
  spec.boot_id = boot_id;
  EXPECT_TRUE(shim::ReplaceFile(directory.File("spec"), shim::Encode(spec), false));
  return directory;
}

TEST_F(RunnerTest, RunsAProgramAndReportsHowItEnded) {
  struct Row {
    const char* says;
    const char* script;
    int code;
    const char* reason;
  };
  const Row kRows[] = {{"clean", "exit 0", 0, "Completed"},
                       {"own code", "exit 42", 42, "Error"},
                       {"last of two", "true; exit 3", 3, "Error"},
                       {"signal", "kill -9 $$", 137, "Error"},
                       {"another signal", "kill -TERM $$", 143, "Error"}};
  int number = 0;
  for (const Row& row : kRows) {
    const std::string uid = "exit-" + std::to_string(number++);
    Start(Shell(uid, row.script));
    const auto exited = Await<Exited>(uid);
    EXPECT_EQ(exited.code, row.code) << row.says;
    EXPECT_EQ(exited.reason, row.reason) << row.says;
    EXPECT_EQ(exited.boot_id, shim::BootId());
    EXPECT_GT(exited.at_monotonic_ms, 0);
    EXPECT_EQ(Count<Started>(uid), 1u) << row.says;
  }
}

TEST_F(RunnerTest, GivesExactlyTheArgumentsEnvironmentAndDirectory) {
  auto launch = Program(
      "exact", {"sh", "-c", "printf '%s|' \"$@\"; pwd; env | sort", "name", "a b", "", "ä\n"});
  launch.env["GREETING"] = "two  spaces\nand a line";
  launch.env["LANG"] = "C.UTF-8";
  launch.working_dir = "/usr/lib";
  Start(launch);
  Await<Exited>("exact");
  EXPECT_EQ(
      Log("exact"),
      "a b||ä\n|/usr/lib\nGREETING=two  spaces\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n"
      "PONDAGE_POD=exact\nPONDAGE_SOCKET=" +
          data_ +
          "/replicas/exact/module.sock\nPWD=/usr/lib\n"
          "and a line\n");
}

TEST_F(RunnerTest, SaysWhyAProgramCannotStart) {
  std::ofstream(data_ + "/plain") << "no program\n";
  std::ofstream(data_ + "/script") << "#!/no/such/interpreter\n";
  std::filesystem::permissions(data_ + "/script", std::filesystem::perms::owner_all);

  Start(Program("missing", {"no-such-program"}));
  Start(Program("plain", {data_ + "/plain"}));
  Start(Program("script", {data_ + "/script"}));
  auto nowhere = Program("nowhere", {"true"});
  nowhere.working_dir = "/no/such/directory";
  Start(nowhere);

  const auto missing = Await<NotStarted>("missing");
  EXPECT_TRUE(missing.not_found);
  EXPECT_THAT(missing.message, ::testing::HasSubstr("no-such-program"));
  EXPECT_TRUE(Await<NotStarted>("plain").not_executable);
  const auto script = Await<NotStarted>("script");
  EXPECT_TRUE(script.not_executable);
  EXPECT_THAT(script.message, ::testing::HasSubstr("interpreter"));
  const auto directory = Await<NotStarted>("nowhere");
  EXPECT_FALSE(directory.not_found || directory.not_executable);
  EXPECT_THAT(directory.message, ::testing::HasSubstr("/no/such/directory"));
  EXPECT_EQ(Count<Started>("missing"), 0u);
}

TEST_F(RunnerTest, StartsAReplicaOnce) {
  const std::string script = "echo here >> " + data_ + "/starts; sleep 1000";
  Start(Shell("once", script));
  Start(Shell("once", script));
  Await<Started>("once");
  Start(Shell("once", script));
  StartServer();  // which has forgotten
  Start(Shell("once", script));
  Await<Started>("once");
  runner_->Kill("once");
  EXPECT_EQ(Await<Exited>("once").code, 137);
  Start(Shell("once", script));
  Start(Shell("next", "true"));
  Await<Exited>("next");  // and so everything before it was taken
  EXPECT_EQ(ReadText(data_ + "/starts"), "here\n");
}

TEST_F(RunnerTest, AnInPlaceRestartWaitsForTheStartBeforeIt) {
  Start(Shell("again", "sleep 1000"));
  Await<Started>("again");
  auto second = Shell("again", "exit 5");
  second.start = 1;
  Start(second);
  runner_->Kill("again");  // withdraws the second start, which had not begun
  EXPECT_EQ(Await<NotStarted>("again").start, 1);
  runner_->Kill("again");
  EXPECT_EQ(Await<Exited>("again").start, 0);
  Start(second);  // ordered again by who has not heard of that: no
  runner_->Forget("again", 1);
  Start(second);
  const auto exited = Await<Exited>("again", 1);
  EXPECT_EQ(exited.start, 1);
  EXPECT_EQ(exited.code, 5);
}

TEST_F(RunnerTest, TellsTheWholeTreeToLeave) {
  // The grandchild saves and leaves with 42 though the shell between them is gone at once.
  Start(
      Shell("tree",
            "trap 'exit 42' TERM; "
            "sh -c 'trap \"echo saved; exit 42\" TERM; echo ready; while :; do sleep 0.01; done' & "
            "while :; do sleep 0.01; done"));
  AwaitOutside([&] { return Log("tree").contains("ready"); });
  runner_->Stop("tree", base::Millis{60'000});
  EXPECT_EQ(Await<Exited>("tree").code, 42);
  EXPECT_THAT(Log("tree"), ::testing::HasSubstr("saved"));
  EXPECT_TRUE(Alive("tree").empty());
}

TEST_F(RunnerTest, KillsWhatIgnoresItsNoticeAtTheDeadline) {
  Start(Shell("deaf", "trap '' TERM; echo ready; while :; do sleep 0.01; done"));
  AwaitOutside([&] { return Log("deaf").contains("ready"); });
  runner_->Stop("deaf", base::Millis{60'000});
  runner_->Stop("deaf", base::Millis{100});     // an earlier deadline counts
  runner_->Stop("deaf", base::Millis{60'000});  // a later one does not
  const auto exited = Await<Exited>("deaf");
  EXPECT_EQ(exited.code, 137);
  EXPECT_THAT(exited.message, ::testing::HasSubstr("did not leave"));
}

TEST_F(RunnerTest, TheDeadlineHoldsWhenTheServerIsDead) {
  Start(Shell("orphan", "trap '' TERM; echo ready; while :; do sleep 0.01; done"));
  AwaitOutside([&] { return Log("orphan").contains("ready"); });
  runner_->Stop("orphan", base::Millis{300});
  Start(Shell("after", "true"));
  Await<Exited>("after");  // the order is out by then
  EndServer();
  AwaitOutside([&] { return ReplicaDir(data_, "orphan").ReadExit(0).has_value(); });
  EXPECT_EQ(ReplicaDir(data_, "orphan").ReadExit(0)->code, 137);
  AwaitOutside([&] { return Alive("orphan").empty(); });
}

TEST_F(RunnerTest, LeavesNobodyBehindWhenTheProgramEnds) {
  Start(Shell("daemon",
              "(setsid sh -c 'trap \"\" TERM HUP; echo ready; sleep 1000' &) ; "
              "sleep 0.2; exit 7"));
  EXPECT_EQ(Await<Exited>("daemon").code, 7);
  EXPECT_TRUE(Alive("daemon").empty());
}

TEST_F(RunnerTest, ASecondServerTakesOverWhatRuns) {
  Start(Shell("kept", "sleep 1000"));
  Start(Shell("ended", "echo one; while [ ! -e " + data_ + "/go ]; do sleep 0.01; done; exit 9"));
  const auto started = Await<Started>("kept");
  Await<Started>("ended");
  EndServer();
  Touch(data_ + "/go");
  AwaitOutside([&] { return ReplicaDir(data_, "ended").ReadExit(0).has_value(); });

  StartServer();
  runner_->Adopt({{"kept", 0, ""}, {"ended", 0, ""}, {"unheard-of", 3, ""}});
  EXPECT_EQ(Await<Started>("kept").pid, started.pid);
  EXPECT_EQ(Await<Exited>("ended").code, 9);
  const auto lost = Await<Exited>("unheard-of");
  EXPECT_EQ(lost.reason, "Lost");
  EXPECT_EQ(lost.code, 137);
  EXPECT_EQ(lost.start, 3);
  runner_->Stop("kept", base::Millis{30'000});
  EXPECT_EQ(Await<Exited>("kept").code, 143);
}

TEST_F(RunnerTest, AnExitThatCannotBeWrittenDownIsStillTold) {
  Start(Shell("full", "while [ ! -e " + data_ + "/go ]; do sleep 0.01; done; exit 9"));
  Await<Started>("full");
  std::filesystem::create_directory(ReplicaDir(data_, "full").File("exit"));  // no file goes there
  Touch(data_ + "/go");
  const auto exited = Await<Exited>("full");
  EXPECT_EQ(exited.reason, "Error");
  EXPECT_EQ(exited.code, 9);
}

TEST_F(RunnerTest, NothingOfAReplicaOutlivesItsShim) {
  Start(Shell("victim", "(setsid sleep 1000 &); echo ready; sleep 1000"));
  Await<Started>("victim");
  AwaitOutside([&] { return Log("victim").contains("ready"); });
  AwaitOutside([&] { return runner_->RunningNow().size() == 1; });
  kill(static_cast<pid_t>(runner_->RunningNow().front().shim_pid), SIGKILL);
  const auto exited = Await<Exited>("victim");
  EXPECT_EQ(exited.reason, "Error");
  EXPECT_EQ(exited.message, "its shim was killed");
  EXPECT_EQ(exited.code, 137);
  EXPECT_TRUE(Alive("victim").empty());
}

TEST_F(RunnerTest, AProgramThatKillsItsShimHasFailed) {
  // A failure of the machine would be restarted without being counted.
  for (const char* script : {"kill -9 $PPID", "kill -9 $PPID; sleep 1000"}) {
    const std::string uid = std::string("rogue-") + std::to_string(std::strlen(script));
    Start(Shell(uid, script));
    const auto exited = Await<Exited>(uid);
    EXPECT_EQ(exited.reason, "Error") << exited.message;
    EXPECT_EQ(exited.code, 137);
    EXPECT_TRUE(Alive(uid).empty());
  }
}

TEST_F(RunnerTest, AStartThatNoShimBeganIsMade) {
  for (const bool adopts : {false, true}) {
    const std::string uid = adopts ? "adopted" : "ordered";
    WriteSpec(data_, uid, shim::BootId());
    // The server before was killed at this point.
    if (adopts) runner_->Adopt({{uid, 0, "", false}});
    Start(Shell(uid, "exit 4"));
    EXPECT_EQ(Await<Exited>(uid).code, 4);
    EXPECT_EQ(Count<Exited>(uid), 1u);
  }
}

TEST_F(RunnerTest, AShimKilledWhileTheServerWasAwayIsLost) {
  Start(Shell("victim", "sleep 1000"));
  Await<Started>("victim");
  AwaitOutside([&] { return runner_->RunningNow().size() == 1; });
  const auto shim = static_cast<pid_t>(runner_->RunningNow().front().shim_pid);
  EndServer();
  kill(shim, SIGKILL);
  AwaitOutside([&] { return !ReplicaDir(data_, "victim").IsLocked(); });
  StartServer();
  runner_->Adopt({{"victim", 0, ""}});
  EXPECT_EQ(Await<Exited>("victim").message, "its shim was killed");
  EXPECT_TRUE(Alive("victim").empty());
}

TEST_F(RunnerTest, WhatRanBeforeTheMachineWasRestartedIsLost) {
  WriteSpec(data_, "old", "another boot");
  runner_->Adopt({{"old", 0, ""}});
  const auto exited = Await<Exited>("old");
  EXPECT_EQ(exited.reason, "Lost");
  EXPECT_EQ(exited.message, "the machine was restarted while it ran");
  const base::Instant boot = clock_.Now() - base::Millis{BoottimeMs()};
  EXPECT_NEAR(exited.at.unix_ms, boot.unix_ms, 60'000) << "it was gone when the machine began";
}

// A job that may not run twice must hear of what had begun, however it ended.
TEST_F(RunnerTest, WhatBeganUnseenIsToldBeforeItsEnd) {
  Start(Shell("ended", "exit 9"));
  Start(Shell("killed", "sleep 1000"));
  Await<Exited>("ended");
  Await<Started>("killed");
  AwaitOutside([&] { return runner_->RunningNow().size() == 1; });
  const auto shim = static_cast<pid_t>(runner_->RunningNow().front().shim_pid);
  EndServer();
  kill(shim, SIGKILL);
  AwaitOutside([&] { return !ReplicaDir(data_, "killed").IsLocked(); });
  WriteSpec(data_, "cut", "another boot");
  readings_.clear();
  StartServer();
  std::vector<port::Runner::Known> known;
  for (const char* uid : {"ended", "killed", "cut"}) known.push_back({uid, 0, "", false});
  runner_->Adopt(known);
  for (const std::string uid : {"ended", "killed", "cut"}) {
    Start(Shell(uid, "exit 1"));
    EXPECT_NE(Await<Exited>(uid).code, 1) << uid << " had begun";
    ASSERT_EQ(Count<Started>(uid), 1u) << uid;
    const std::lock_guard lock(mutex_);
    const auto index = [&](const auto& is) { return std::ranges::find_if(readings_, is); };
    const auto began = index([&](const port::Reading& reading) {
      const auto* started = std::get_if<Started>(&reading);
      return started != nullptr && started->uid == uid;
    });
    const auto end = index([&](const port::Reading& reading) {
      const auto* exited = std::get_if<Exited>(&reading);
      return exited != nullptr && exited->uid == uid;
    });
    EXPECT_LT(began, end) << uid;
  }
}

// Each time it is asked, also when its last checkpoint is looked for on another thread.
TEST_F(RunnerTest, AllIsToldBehindTheEndsOfWhatHadEnded) {
  auto saver = Shell("saver", "exit 3");
  saver.checkpoint_dir = directory_.path();
  Start(saver);
  Start(Shell("lives", "sleep 1000"));
  Await<Exited>("saver");
  Await<Started>("lives");
  EndServer();
  readings_.clear();
  StartServer();
  const auto told = [&] {
    return std::ranges::count_if(readings_, [](const port::Reading& reading) {
      return std::holds_alternative<port::AllTold>(reading);
    });
  };
  const std::vector<port::Runner::Known> known = {{"saver", 0, ""}, {"lives", 0, ""}};
  runner_->Adopt(known);
  AwaitThat([&] { return told() == 1; });
  EXPECT_EQ(Count<Exited>("saver"), 1u) << "before that";
  runner_->Adopt(known);
  AwaitThat([&] { return told() == 2; });
  EXPECT_EQ(Count<Exited>("saver"), 2u);
  runner_->Kill("lives");
  Await<Exited>("lives");
}

TEST_F(RunnerTest, WhatNobodyKnowsIsEnded) {
  Start(Shell("stranger", "sleep 1000"));
  Await<Started>("stranger");
  StartServer();
  runner_->Adopt({});
  AwaitOutside([&] { return !std::filesystem::exists(data_ + "/replicas/stranger"); });
  EXPECT_TRUE(Alive("stranger").empty());
  EXPECT_EQ(Count<Exited>("stranger"), 0u);
}

// The server ended between the start of a program and the commit of its having started.
TEST_F(RunnerTest, WhatBeganUnseenIsTakenOverAndNeverRunTwice) {
  const std::string starts = data_ + "/starts";
  const auto lives = Shell("lives", "echo lives >> " + starts + "; sleep 1000");
  const auto ended = Shell("ended", "echo ended >> " + starts + "; exit 9");
  const auto broken = Program("broken", {"/no/such/program"});
  const auto fresh = Shell("fresh", "echo fresh >> " + starts + "; exit 3");
  Start(lives);
  Start(ended);
  Start(broken);
  const auto before = Await<Started>("lives");
  Await<Exited>("ended");
  Await<NotStarted>("broken");
  StartServer();
  std::vector<port::Runner::Known> known;
  for (const char* uid : {"lives", "ended", "broken", "fresh"})
    known.push_back({uid, 0, "", false});
  runner_->Adopt(known);
  EXPECT_EQ(Await<Started>("lives").pid, before.pid) << "its shim may connect before its Start";
  for (const auto& launch : {lives, ended, broken, fresh}) Start(launch);
  EXPECT_EQ(Await<Exited>("fresh").code, 3);
  EXPECT_EQ(Await<Exited>("ended").code, 9);
  EXPECT_TRUE(Await<NotStarted>("broken").not_found);
  runner_->Kill("lives");
  EXPECT_EQ(Await<Exited>("lives").code, 137);
  EXPECT_EQ(Count<Exited>("ended"), 1u);
  EXPECT_EQ(Count<NotStarted>("broken"), 1u);
  std::istringstream lines(ReadText(starts));
  std::multiset<std::string> begun{std::istream_iterator<std::string>(lines), {}};
  EXPECT_EQ(begun, (std::multiset<std::string>{"ended", "fresh", "lives"}));
}

TEST_F(RunnerTest, AStartUnseenWaitsForTheShimOfTheOneBeforeIt) {
  Start(Shell("again", "echo first; sleep 1000"));
  Await<Started>("again");
  AwaitOutside([&] { return Log("again") == "first\n"; });
  StartServer();
  runner_->Adopt({{"again", 1, "", false}});
  auto second = Shell("again", "exit 5");
  second.start = 1;
  Start(second);
  EXPECT_EQ(Await<Exited>("again").code, 5);
  EXPECT_EQ(Count<Exited>("again"), 1u) << "the end of the first was told long ago";
  EXPECT_EQ(Log("again"), "first\n");
}

TEST_F(RunnerTest, AsksForPortsBeforeTheStart) {
  const shim::Descriptor other(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(other.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(other.get(), 1), 0);
  ASSERT_EQ(getsockname(other.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin_port);

  auto launch = Shell("clash", "exit 0");
  launch.ports = {port};
  Start(launch);
  EXPECT_EQ(Await<NotStarted>("clash").ports_taken, std::vector<int>{port});
}

void SendTo(const std::string& path, const std::string& message) {
  const shim::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(sendto(socket.get(), message.data(), message.size(), 0,
                   reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            static_cast<ssize_t>(message.size()));
}

TEST_F(RunnerTest, HearsTheJobsOwnModule) {
  Start(Shell("speaker", "sleep 1000"));
  Await<Started>("speaker");
  const std::string socket = data_ + "/replicas/speaker/module.sock";
  SendTo(socket, "1 input-wait 300");  // is no hello, by which it could be killed
  AwaitOutside([&] {
    const auto running = runner_->RunningNow();
    return running.size() == 1 && running.front().said.input_wait_permille == 300;
  });
  EXPECT_EQ(Count<Said>("speaker"), 0u);
  SendTo(socket, "1 hello");
  EXPECT_EQ(Await<Said>("speaker").step, -1);
  SendTo(socket, "2 step 7");
  SendTo(socket, "1 step -3");
  SendTo(socket, std::string(5000, 'x'));
  SendTo(socket, "1 checkpoint 120 /data/ck pt-120");
  SendTo(socket, "1 input-wait 613");
  SendTo(socket, "1 step 123");
  Said last;
  AwaitThat([&] {
    for (const auto& reading : readings_) {
      if (const auto* said = std::get_if<Said>(&reading)) last = *said;
    }
    return last.step == 123;
  });
  EXPECT_EQ(last.checkpoint_step, 120);
  EXPECT_EQ(last.checkpoint_path, "/data/ck pt-120");
  EXPECT_EQ(last.input_wait_permille, 613);

  StartServer();  // what was said is kept by the shim
  runner_->Adopt({{"speaker", 0, ""}});
  EXPECT_EQ(Await<Said>("speaker").step, 123);
  runner_->Kill("speaker");
  Await<Exited>("speaker");
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST_F(RunnerTest, AShimThatCannotBeAcceptedNowIsAcceptedLater) {
  AwaitOutside([&] { return std::filesystem::exists(data_ + "/agent.sock"); });
  const shim::Descriptor shim(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  std::vector<shim::Descriptor> filling;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{std::min<rlim_t>(before.rlim_cur, 256), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  for (shim::Descriptor one(dup(0)); one; one = shim::Descriptor(dup(0)))
    filling.push_back(std::move(one));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (data_ + "/agent.sock").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(shim.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const double used = CpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(CpuSeconds() - used, 0.2) << "it spins";
  setrlimit(RLIMIT_NOFILE, &before);
  filling.clear();
  ASSERT_EQ(send(shim.get(), "nonsense", 8, MSG_NOSIGNAL), 8);
  char byte = 0;
  EXPECT_EQ(recv(shim.get(), &byte, 1, 0), 0) << "it is heard, and sent away";
}

TEST_F(RunnerTest, SeesCheckpointsAndTheLastOneBeforeTheExit) {
  const std::string directory = data_ + "/ckpt";
  std::filesystem::create_directory(directory);
  const auto save = [&](int step) {
    std::ofstream(directory + "/checkpoint.tmp")
        << "model_checkpoint_path: \"ckpt-" << step << "\"\n";
    std::filesystem::rename(directory + "/checkpoint.tmp", directory + "/checkpoint");
  };
  save(40);  // of an earlier attempt: no news
  auto launch = Shell("saver", "echo 'model_checkpoint_path: \"ckpt-120\"' > " + directory +
                                   "/checkpoint; exit 42");
  launch.checkpoint_dir = directory;
  Start(launch);
  EXPECT_EQ(Await<Exited>("saver").code, 42);
  ASSERT_EQ(Count<Saved>("saver"), 1u);
  const auto saved = Await<Saved>("saver");
  EXPECT_EQ(saved.step, 120);
  EXPECT_EQ(saved.path, directory + "/ckpt-120");
  const std::lock_guard lock(mutex_);
  EXPECT_TRUE(std::holds_alternative<Exited>(readings_.back()));
}

// The directory is the submitter's word: what the account may not read is not told of.
TEST_F(RunnerTest, CheckpointsAreLookedForWithTheRightsOfTheProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs a program as somebody else";
  constexpr uid_t kUser = 65'534;
  std::filesystem::permissions(data_, std::filesystem::perms(0711));
  const std::string open = data_ + "/open";
  const std::string closed = data_ + "/closed";
  for (const std::string& directory : {open, closed}) {
    std::filesystem::create_directory(directory);
    auto launch = Shell(directory == open ? "open" : "closed", "sleep 1000");
    launch.user_id = launch.group_id = kUser;
    launch.checkpoint_dir = directory;
    Start(launch);
    Await<Started>(launch.uid);
  }
  std::filesystem::permissions(closed, std::filesystem::perms(0700));
  StartServer();  // what it takes over it looks at no less carefully
  runner_->Adopt({{"open", 0, open}, {"closed", 0, closed}, {"unheard-of", 0, closed}});
  for (const char* uid : {"open", "closed"}) Await<Started>(uid);
  for (const std::string& directory : {open, closed}) std::ofstream(directory + "/payroll-7");
  EXPECT_EQ(Await<Saved>("open").path, open + "/payroll-7");
  runner_->Kill("closed");
  Await<Exited>("closed");  // behind the last look
  EXPECT_EQ(Count<Saved>("closed"), 0u);
  EXPECT_EQ(Count<Saved>("unheard-of"), 0u);
  runner_->Kill("open");
  Await<Exited>("open");
}

TEST_F(RunnerTest, KeepsTheNewestPartOfAFloodOfOutput) {
  auto launch = Program("flood", {"seq", "1", "1000000"});
  launch.log_cap = base::Bytes{1 << 20};
  Start(launch);
  EXPECT_EQ(Await<Exited>("flood").code, 0);
  std::uintmax_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_ + "/replicas/flood")) {
    if (entry.path().filename().string().starts_with("0.log")) kept += entry.file_size();
  }
  EXPECT_LE(kept, 1u << 20);
  EXPECT_GE(kept, (1u << 20) / 2);

  const LogFiles logs(data_);
  const auto all = logs.Read("flood", 0, 0, 4 << 20);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->ended);
  EXPECT_EQ(all->bytes.size(), kept);
  // Every byte of `seq 1 1000000` was counted, and what is kept is its end, line for line.
  EXPECT_EQ(all->offset + static_cast<std::int64_t>(kept), 6'888'896);
  EXPECT_TRUE(all->bytes.ends_with("\n999999\n1000000\n"));
  const auto tail = logs.TailOffset("flood", 0, 2);
  ASSERT_TRUE(tail);
  EXPECT_EQ(logs.Read("flood", 0, *tail, 100)->bytes, "999999\n1000000\n");
}

TEST_F(RunnerTest, StartsTwoHundredAtOnce) {
  const int kMany = 200;
  for (int i = 0; i < kMany; ++i)
    Start(Shell("many-" + std::to_string(i), "exit " + std::to_string(i % 7)));
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(Await<Exited>("many-" + std::to_string(i)).code, i % 7);
    EXPECT_EQ(Count<Started>("many-" + std::to_string(i)), 1u);
  }
}

// In memory where there is such a file system: the disk would be most of it.
class ManyTest : public RunnerTest {
 protected:
  ManyTest() : RunnerTest(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") {}
};

TEST_F(ManyTest, NothingIsHeldOfWhatHasEndedAndWasForgotten) {
  constexpr int kMany = 10'000;
  std::vector<port::Runner::Known> known;
  for (int i = 0; i < kMany; ++i) {
    const std::string uid = "past-" + std::to_string(i);
    const ReplicaDir directory = WriteSpec(data_, uid, shim::BootId());
    shim::Ended ended;
    ended.uid = uid;
    ended.code = i % 2;
    ended.reason = i % 2 == 0 ? "Completed" : "Error";
    ASSERT_TRUE(shim::ReplaceFile(directory.File("exit"), shim::Encode(ended), false));
    known.push_back({uid, 0, ""});
  }
  runner_->Adopt(known);
  AwaitThat([&] { return readings_.size() == kMany; });
  EXPECT_EQ(runner_->Held(), std::size_t{kMany});
  for (const auto& one : known) runner_->Forget(one.uid, 0);
  Start(Shell("never-was", "no-such-directory/program"));
  auto failing = Program("never-was-2", {"/no/such/program"});
  Start(failing);
  Await<NotStarted>("never-was-2");
  Start(Shell("past-7", "exit 3"));  // it was carried out long ago
  Start(Shell("now", "exit 0"));
  Await<Exited>("now");
  EXPECT_EQ(Count<Exited>("past-7"), 1u);
  runner_->Forget("now", 0);
  AwaitOutside([&] { return runner_->Held() == 1; });  // "never-was", whose end was not taken
  Await<Exited>("never-was");
  // Asked again, as by a server that has lost its memory: the same answer.
  StartServer();
  runner_->Adopt({{"past-7", 0, ""}, {"now", 0, ""}});
  EXPECT_EQ(Await<Exited>("past-7").reason, "Error");
  EXPECT_EQ(Await<Exited>("now").reason, "Completed");
  for (const auto& one : known) runner_->Erase(one.uid);
  AwaitOutside([&] {
    const std::filesystem::directory_iterator left(data_ + "/replicas");
    return std::distance(begin(left), end(left)) == 3;
  });
}

TEST_F(RunnerTest, ASecondServerTakesOverAHundredAtOnce) {
  constexpr int kMany = 100;
  std::vector<port::Runner::Known> known;
  for (int i = 0; i < kMany; ++i) {
    known.push_back({"kept-" + std::to_string(i), 0, ""});
    Start(Program(known.back().uid, {"sleep", "1000"}));
  }
  for (const auto& one : known) Await<Started>(one.uid);
  EndServer();
  StartServer();
  runner_->Adopt(known);
  for (const auto& one : known) Await<Started>(one.uid);
  for (const auto& one : known) runner_->Kill(one.uid);
  for (const auto& one : known) EXPECT_EQ(Await<Exited>(one.uid).code, 137);
}

TEST_F(RunnerTest, ErasesWhatIsNoLongerNeeded) {
  Start(Shell("gone", "echo words"));
  Await<Exited>("gone");
  runner_->Forget("gone", 0);
  Start(Shell("next", "true"));
  Await<Exited>("next");
  EXPECT_EQ(Log("gone"), "words\n");
  EXPECT_FALSE(std::filesystem::exists(data_ + "/replicas/gone/exit"));
  runner_->Erase("gone");
  AwaitOutside([&] { return !std::filesystem::exists(data_ + "/replicas/gone"); });
}

}  // namespace
}  // namespace pondage::run
