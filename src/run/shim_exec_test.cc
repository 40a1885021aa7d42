#include "run/shim_exec.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "run/mount_plan.h"
#include "run/replica_dir.h"
#include "run/runner_fixture_test.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

using port::Exited;
using port::Started;

// One further program, our ends of its streams, and what became of it.
struct Session {
  shim::Descriptor in, out, err;
  std::optional<base::Result<port::ExecExit>> result;
  std::unique_ptr<port::Exec::Handle> handle;  // goes first: nothing is told behind it
};

class ExecTest : public RunnerTest {
 protected:
  std::unique_ptr<Session> Exec(const std::string& uid, std::vector<std::string> argv) {
    auto session = std::make_unique<Session>();
    std::array<std::array<int, 2>, 3> pipes{};
    for (auto& pipe : pipes) EXPECT_EQ(pipe2(pipe.data(), O_CLOEXEC), 0);
    session->in = shim::Descriptor(pipes[0][1]);
    session->out = shim::Descriptor(pipes[1][0]);
    session->err = shim::Descriptor(pipes[2][0]);
    Begin(*session, {uid, std::move(argv), pipes[0][0], pipes[1][1], pipes[2][1], false});
    return session;
  }
  void Begin(Session& session, port::ExecRequest request) {
    session.handle = runner_->Execs().Start(std::move(request),
                                            [this, &session](base::Result<port::ExecExit> result) {
                                              const std::lock_guard lock(mutex_);
                                              EXPECT_FALSE(session.result) << "told twice";
                                              session.result = std::move(result);
                                              changed_.notify_all();
                                            });
  }
  base::Result<port::ExecExit> Result(Session& session) {
    AwaitThat([&] { return session.result.has_value(); });
    const std::lock_guard lock(mutex_);
    return session.result.value_or(base::Fail(base::Kind::kUnavailable, "", "", "never came"));
  }
  // Until its end.
  static std::string All(const shim::Descriptor& from) {
    std::string text;
    std::array<char, 4096> bytes;
    while (true) {
      const ssize_t size = read(from.get(), bytes.data(), bytes.size());
      if (size <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(size));
    }
  }
  static void AwaitText(const shim::Descriptor& from, const std::string& wanted) {
    std::string text;
    std::array<char, 4096> bytes;
    while (!text.contains(wanted)) {
      pollfd readable{from.get(), POLLIN, 0};
      ASSERT_EQ(poll(&readable, 1, 60'000), 1) << text;
      const ssize_t size = read(from.get(), bytes.data(), bytes.size());
      ASSERT_GT(size, 0) << text;
      text.append(bytes.data(), static_cast<std::size_t>(size));
    }
  }
  void StartReplica(const std::string& uid, const std::string& script = "exec sleep 1000") {
    Start(Shell(uid, script));
    Await<Started>(uid);
  }
};

TEST_F(ExecTest, RunsInTheReplicasSurroundingsWithStreamsOfItsOwn) {
  auto launch = Program("host", {"sleep", "1000"});
  launch.env["GREETING"] = "hello";
  launch.working_dir = "/usr/lib";
  Start(launch);
  Await<Started>("host");
  const auto session = Exec(
      "host", {"sh", "-c", "cat; pwd; echo $GREETING $PONDAGE_POD \"$1\"; echo bad >&2; exit 3",
               "name", "a b\n"});
  ASSERT_EQ(write(session->in.get(), "from us\n", 8), 8);
  session->in = shim::Descriptor();
  EXPECT_EQ(All(session->out), "from us\n/usr/lib\nhello host a b\n\n");
  EXPECT_EQ(All(session->err), "bad\n");
  const auto ended = Result(*session);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->code, 3);
  EXPECT_EQ(Log("host"), "");  // nothing of it is the replica's output
  EXPECT_EQ(Count<Exited>("host"), 0u);
}

TEST_F(ExecTest, SaysHowItEndedOrWhyItCannotStart) {
  StartReplica("host");
  std::ofstream(data_ + "/plain") << "no program\n";
  struct Row {
    std::vector<std::string> argv;
    int code;
    const char* message;
  };
  const Row kRows[] = {{{"true"}, 0, ""},
                       {{"sh", "-c", "kill -9 $$"}, 137, "signal 9"},
                       {{"no-such-program"}, 127, "no-such-program"},
                       {{data_ + "/plain"}, 126, "may not be executed"}};
  for (const Row& row : kRows) {
    const auto session = Exec("host", row.argv);
    const auto ended = Result(*session);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->code, row.code) << row.argv.front();
    EXPECT_THAT(ended->message, ::testing::HasSubstr(row.message));
  }
}

TEST_F(ExecTest, RefusesWhereNothingRuns) {
  const auto kind_of = [&](const std::string& uid, std::vector<std::string> argv) {
    const auto session = Exec(uid, std::move(argv));
    const auto ended = Result(*session);
    EXPECT_EQ(All(session->out), "");  // its ends are closed whatever happens
    return ended ? std::nullopt : std::optional(ended.error().kind);
  };
  EXPECT_EQ(kind_of("nobody", {"true"}), base::Kind::kNotFound);
  Start(Shell("over", "true"));
  Await<Exited>("over");
  EXPECT_EQ(kind_of("over", {"true"}), base::Kind::kNotFound);
  StartReplica("host");
  EXPECT_EQ(kind_of("host", {}), base::Kind::kInvalid);
  EXPECT_EQ(kind_of("host", {"echo", std::string(70'000, 'x')}), base::Kind::kInvalid);
  const auto session = Exec("host", {"echo", std::string(60'000, 'x')});
  EXPECT_EQ(All(session->out).size(), 60'001u);
}

TEST_F(ExecTest, HasATerminalThatControlsIt) {
  StartReplica("host");
  const shim::Descriptor master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(grantpt(master.get()) == 0 && unlockpt(master.get()) == 0);
  std::array<char, 64> name{};
  ASSERT_EQ(ptsname_r(master.get(), name.data(), name.size()), 0);
  const auto open_slave = [&] { return open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC); };
  Session session;
  Begin(session, {"host",
                  {"sh", "-c",
                   "trap 'stty size; exit 5' INT; echo ready >/dev/tty; while :; do sleep "
                   "0.01; done"},
                  open_slave(),
                  open_slave(),
                  open_slave(),
                  true});
  AwaitText(master, "ready");
  const winsize size{41, 97, 0, 0};
  ASSERT_EQ(ioctl(master.get(), TIOCSWINSZ, &size), 0);
  ASSERT_EQ(write(master.get(), "\003", 1), 1);  // the terminal makes a SIGINT of it
  AwaitText(master, "41 97");
  const auto ended = Result(session);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->code, 5);
}

TEST_F(ExecTest, LettingGoHangsItUpAndKillsWhatStays) {
  StartReplica("host");
  auto polite = Exec("host", {"sh", "-c",
                              "trap 'echo bye >" + data_ +
                                  "/bye; exit' HUP; echo ready; while :; do sleep "
                                  "0.01; done"});
  AwaitText(polite->out, "ready");
  polite->handle.reset();
  AwaitOutside([&] { return ReadText(data_ + "/bye") == "bye\n"; });

  auto deaf =
      Exec("host", {"sh", "-c", "trap '' HUP TERM; echo ready; while :; do sleep 0.01; done"});
  AwaitText(deaf->out, "ready");
  deaf->handle.reset();
  AwaitOutside([&] { return Alive("host").size() == 1; });
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(polite->result);
  EXPECT_FALSE(deaf->result);
}

TEST_F(ExecTest, TheReplicasEndIsItsEnd) {
  // Also when the program was asked to leave and has grace left that nothing of this may use.
  for (const bool asked : {false, true}) {
    const std::string uid = asked ? "asked" : "ended";
    StartReplica(uid, "trap 'exit 42' TERM; echo ready; while [ ! -e " + data_ + "/go-" + uid +
                          " ]; do sleep 0.01; done; exit 42");
    AwaitOutside([&] { return Log(uid).contains("ready"); });
    const auto session =
        Exec(uid, {"sh", "-c", "trap '' HUP TERM; sleep 1000 & echo ready; sleep 1000"});
    AwaitText(session->out, "ready");
    if (asked) {
      runner_->Stop(uid, base::Millis{1'000'000});
    } else {
      std::ofstream(data_ + "/go-" + uid);
    }
    EXPECT_EQ(Await<Exited>(uid).code, 42);
    EXPECT_TRUE(Alive(uid).empty());
    const auto result = Result(*session);
    EXPECT_TRUE(!result || result->code == 137);
  }
}

TEST_F(ExecTest, EndsWithTheServerWhileTheReplicaRunsOn) {
  StartReplica("host");
  const auto session = Exec("host", {"sh", "-c", "trap '' HUP; echo ready; exec sleep 1000"});
  AwaitText(session->out, "ready");
  EXPECT_EQ(Alive("host").size(), 2u);
  EndServer();
  ASSERT_TRUE(session->result);  // it was told
  EXPECT_EQ(session->result->error().kind, base::Kind::kUnavailable);
  session->handle.reset();  // a handle may go late
  AwaitOutside([&] { return Alive("host").size() == 1; });
  StartServer();
  runner_->Adopt({{"host", 0, ""}});
  const auto again = Exec("host", {"echo", "again"});
  EXPECT_EQ(All(again->out), "again\n");
  EXPECT_EQ(Result(*again)->code, 0);
}

TEST_F(ExecTest, AHundredAtOnceAndNoneIsLost) {
  StartReplica("host");
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.reserve(100);
  for (int i = 0; i < 100; ++i) {
    sessions.push_back(Exec("host", {"sh", "-c", "read x; echo $x; exit " + std::to_string(i)}));
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(write(sessions[static_cast<std::size_t>(i)]->in.get(), "word\n", 5), 5);
  }
  for (int i = 0; i < 100; ++i) {
    Session& session = *sessions[static_cast<std::size_t>(i)];
    EXPECT_EQ(All(session.out), "word\n");
    const auto ended = Result(session);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->code, i);
  }
  // Nothing of them is kept: as many again.
  for (int i = 0; i < 100; ++i) {
    const auto session = Exec("host", {"true"});
    EXPECT_EQ(Result(*session)->code, 0);
  }
}

TEST_F(ExecTest, OutputThatNobodyReadsHoldsUpNothing) {
  StartReplica("host");
  auto flood = Exec("host", {"sh", "-c", "yes & yes"});
  AwaitText(flood->out, "y\n");
  const auto beside = Exec("host", {"echo", "here"});
  EXPECT_EQ(All(beside->out), "here\n");
  flood->handle.reset();
  AwaitOutside([&] { return Alive("host").size() == 1; });
}

TEST_F(ExecTest, AnOlderShimCannot) {
  const ReplicaDir directory(data_, "old");
  ASSERT_TRUE(directory.Make());
  const shim::Descriptor lock = directory.TakeLock();  // as its shim would hold it
  shim::Spec spec;
  spec.uid = "old";
  spec.argv = {"true"};
  spec.boot_id = shim::BootId();
  ASSERT_TRUE(shim::ReplaceFile(directory.File("spec"), shim::Encode(spec)));
  runner_->Adopt({{"old", 0, ""}});
  const shim::Descriptor shim(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (data_ + "/agent.sock").c_str(), sizeof(address.sun_path) - 1);
  AwaitOutside([&] {
    return connect(shim.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  });
  shim::State state;
  state.uid = "old";
  state.pid = state.shim_pid = getpid();
  const std::string message = shim::Encode(state);
  ASSERT_EQ(send(shim.get(), message.data(), message.size(), 0),
            static_cast<ssize_t>(message.size()));
  Await<Started>("old");
  const auto session = Exec("old", {"true"});
  const auto ended = Result(*session);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, base::Kind::kUnavailable);
  EXPECT_THAT(ended.error().message, ::testing::HasSubstr("older"));
}

std::size_t OpenFiles(std::int64_t pid) {
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

void SendWith(int socket, std::string bytes, const std::vector<int>& descriptors) {
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  EXPECT_EQ(sendmsg(socket, &message, 0), static_cast<ssize_t>(bytes.size()));
}

TEST_F(ExecTest, OddMessagesLeaveNothingBehindInTheShim) {
  StartReplica("host");
  AwaitOutside([&] { return runner_->RunningNow().size() == 1; });
  const std::int64_t shim = runner_->RunningNow().front().shim_pid;
  const std::size_t before = OpenFiles(shim);
  EndServer();

  // We are the server that it finds next.
  const shim::Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (data_ + "/agent.sock").c_str(), sizeof(address.sun_path) - 1);
  unlink(address.sun_path);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const shim::Descriptor peer(accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(peer);

  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const shim::Descriptor closes(null);
  shim::Command command;
  command.exec = shim::Exec{1, {"true"}, false};
  SendWith(peer.get(), "no record", {null, null, null});
  SendWith(peer.get(), shim::Encode(shim::Command{}), {null, null, null, null, null});
  SendWith(peer.get(), shim::Encode(command), {null});
  command.exec->id = 2;
  SendWith(peer.get(), shim::Encode(command), {null, null, null, null, null, null, null});
  command.exec = shim::Exec{3, {"true"}, true};  // the null device is no terminal
  SendWith(peer.get(), shim::Encode(command), {null, null, null});
  command.exec.reset();
  command.release = 99;
  SendWith(peer.get(), shim::Encode(command), {null, null});

  std::map<std::int64_t, std::int64_t> codes;
  std::array<char, shim::kMessageLimit> bytes;
  while (codes.size() < 3) {
    const ssize_t size = recv(peer.get(), bytes.data(), bytes.size(), 0);
    ASSERT_GT(size, 0);
    const auto state = shim::DecodeState({bytes.data(), static_cast<std::size_t>(size)});
    ASSERT_TRUE(state);
    for (const auto& ended : state->execs_ended) codes[ended.id] = ended.code;
  }
  EXPECT_EQ(codes[1], 126);
  EXPECT_EQ(codes[2], 126);
  EXPECT_EQ(codes[3], 126);
  AwaitOutside([&] { return OpenFiles(shim) == before; });
}

TEST_F(ExecTest, SeesTheReplicasMountsAndItsControlGroup) {
  if (const std::string why = WhyNoMounts("bwrap"); !why.empty())
    GTEST_SKIP() << "no mounts here: " << why;
  std::filesystem::create_directory(data_ + "/source");
  std::ofstream(data_ + "/source/file") << "mounted\n";
  auto launch = Shell("host", "exec sleep 1000");
  launch.mounts = {{data_ + "/source", "/no-such-place/inside", true}};
  launch.pids_limit = 100;
  Start(launch);
  Await<Started>("host");
  const auto session = Exec("host", {"cat", "/no-such-place/inside/file"});
  EXPECT_EQ(All(session->out), "mounted\n");
  EXPECT_EQ(Result(*session)->code, 0);

  const auto groups = Exec("host", {"cat", "/proc/self/cgroup"});
  const std::string own = All(groups->out);
  const auto program = Await<Started>("host").pid;
  EXPECT_EQ(own, ReadText("/proc/" + std::to_string(program) + "/cgroup"));
}

TEST_F(ExecTest, HasTheReplicasAccount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a replica another account";
  auto launch = Shell("host", "echo said >/dev/stderr; exec sleep 1000");
  launch.user_id = launch.group_id = 65534;
  std::filesystem::create_directory(data_ + "/source");
  std::ofstream(data_ + "/source/file") << "mounted\n";
  if (WhyNoMounts("bwrap").empty()) launch.mounts = {{data_ + "/source", "/no-such-place", true}};
  std::filesystem::permissions(data_, std::filesystem::perms(0755));
  Start(launch);
  Await<Started>("host");
  AwaitOutside([&] { return Log("host") == "said\n"; });  // its streams can be opened by name
  const auto session = Exec("host", {"sh", "-c", "id -u; id -g; echo named >/dev/stdout"});
  EXPECT_EQ(All(session->out), "65534\n65534\nnamed\n");
  if (!launch.mounts.empty()) {
    const auto mounted = Exec("host", {"cat", "/no-such-place/file"});
    EXPECT_EQ(All(mounted->out), "mounted\n");
  }
  const auto denied = Exec("host", {"cat", "/etc/shadow"});
  EXPECT_NE(Result(*denied)->code, 0);
}

}  // namespace
}  // namespace pondage::run
