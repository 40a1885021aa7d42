// The habits of TensorFlow that the runner must cope with, shown by its stand-in (test/fake_tf).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>

#include "run/runner_fixture_test.h"
#include "shim/descriptor.h"

namespace pondage::run {
namespace {

using port::Exited;
using port::Said;
using port::Saved;
using port::Started;

class GangTest : public RunnerTest {
 protected:
  static port::Launch FakeTf(const std::string& uid, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {std::string(PONDAGE_BIN_DIR) + "/fake_tf"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Program(uid, argv);
  }
  static int FreePort() {
    const shim::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return ntohs(address.sin_port);
  }
};

TEST_F(GangTest, SavesOnNoticeAndLeavesWith42) {
  const std::string directory = data_ + "/ckpt";
  auto launch = FakeTf("saver", {"--steps", "100000", "--every", "0", "--save-on-term",
                                 "--checkpoint-dir", directory});
  launch.checkpoint_dir = directory;
  Start(launch);
  AwaitThat([&] {
    for (const auto& reading : readings_) {
      const auto* said = std::get_if<Said>(&reading);
      if (said != nullptr && said->step >= 3) return true;
    }
    return false;
  });
  runner_->Stop("saver", base::Millis{60'000});
  EXPECT_EQ(Await<Exited>("saver").code, 42);
  EXPECT_GE(Await<Saved>("saver").step, 3);
}

TEST_F(GangTest, OneThatWaitsForItsPeerIsDeafAndMustBeKilled) {
  Start(FakeTf("lonely", {"--peer", "127.0.0.1:" + std::to_string(FreePort())}));
  const std::string status = "/proc/" + std::to_string(Await<Started>("lonely").pid) + "/status";
  AwaitOutside([&] {  // it has taken SIGTERM for itself
    const std::string text = ReadText(status);
    const std::size_t at = text.find("SigCgt:");
    return at != std::string::npos && (std::stoull(text.substr(at + 7), nullptr, 16) & 0x4000) != 0;
  });
  runner_->Stop("lonely", base::Millis{200});
  const auto exited = Await<Exited>("lonely");
  EXPECT_EQ(exited.code, 137);
  EXPECT_EQ(Log("lonely"), "");
}

TEST_F(GangTest, TheFirstExitOfAGangCanBeTold) {
  const std::string port = std::to_string(FreePort());
  Start(FakeTf("w0", {"--listen", port, "--steps", "100000", "--peer-death-ms", "100"}));
  Start(
      FakeTf("w1", {"--peer", "127.0.0.1:" + port, "--steps", "100000", "--peer-death-ms", "100"}));
  AwaitOutside([&] { return Log("w0").contains("START") && Log("w1").contains("START"); });
  runner_->Kill("w1");
  const auto cause = Await<Exited>("w1");
  const auto consequence = Await<Exited>("w0");
  EXPECT_EQ(cause.code, 137);
  EXPECT_EQ(consequence.code, 1);
  EXPECT_EQ(cause.boot_id, consequence.boot_id);
  EXPECT_LT(cause.at_monotonic_ms, consequence.at_monotonic_ms);
}

}  // namespace
}  // namespace pondage::run
