// Programs in replicas: the WebSocket protocol byte by byte, and real kubectl over it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "api/test_exec.h"
#include "api/test_server.h"

namespace pondage::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;
namespace websocket = beast::websocket;
using ::testing::HasSubstr;

const std::string kPods = "/api/v1/namespaces/team/pods/";
const std::string kShell = "exec?command=sh&command=-c&command=";

json::object Pod(const std::string& name, const std::string& phase) {
  json::object state;
  state[phase == "Running" ? "running" : "waiting"] = json::object();
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "team"}, {"uid", "uid-" + name}}},
          {"spec", {{"nodeName", "n"}, {"containers", {{{"name", "tensorflow"}, {"image", "i"}}}}}},
          {"status",
           {{"phase", phase},
            {"containerStatuses",
             {{{"name", "tensorflow"}, {"restartCount", 0}, {"state", std::move(state)}}}}}}};
}

struct Ended {
  std::string out, err;
  json::object status;
};

// A client that speaks the protocol itself.
class Client {
 public:
  Client(const TestServer& server, const std::string& token) : token_(token) {
    tls_.set_verify_mode(asio::ssl::verify_none);
    beast::get_lowest_layer(stream_).connect(
        {asio::ip::make_address("127.0.0.1"), server.server.port()});
    stream_.next_layer().handshake(asio::ssl::stream_base::client);
  }
  // The status of the answer: 101 when a program runs.
  int Open(const std::string& target, const std::string& protocols = "v5.channel.k8s.io") {
    stream_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
      request.set(http::field::authorization, "Bearer " + token_);
      request.set(http::field::sec_websocket_protocol, protocols);
    }));
    stream_.binary(true);
    beast::error_code error;
    stream_.handshake(answer, "127.0.0.1", target, error);
    return answer.result_int();
  }
  void Send(char channel, const std::string& bytes) {
    stream_.write(asio::buffer(channel + bytes));
  }
  // One message, the channel first; empty: the server closed.
  std::string Read() {
    beast::flat_buffer buffer;
    beast::error_code error;
    stream_.read(buffer, error);
    if (error) return "";
    return beast::buffers_to_string(buffer.data());
  }
  Ended ReadAll() {
    Ended ended;
    for (std::string message = Read(); !message.empty(); message = Read()) Take(message, &ended);
    return ended;
  }
  // Sends the messages in their order while it reads, until the server closes. A stream belongs to
  // one thread, so the two take turns on this one.
  Ended Exchange(const std::vector<std::string>& messages) {
    Ended ended;
    beast::flat_buffer buffer;
    std::function<void(std::size_t)> write = [&](std::size_t next) {
      if (next == messages.size()) return;
      stream_.async_write(asio::buffer(messages[next]),
                          [&write, next](const beast::error_code& error, std::size_t) {
                            if (!error) write(next + 1);
                          });
    };
    std::function<void()> read = [&] {
      buffer.clear();
      stream_.async_read(buffer, [&](const beast::error_code& error, std::size_t) {
        if (error) return;
        Take(beast::buffers_to_string(buffer.data()), &ended);
        read();
      });
    };
    write(0);
    read();
    io_.run();
    return ended;
  }
  int CloseCode() const { return stream_.reason().code; }
  void Vanish() { beast::get_lowest_layer(stream_).close(); }

  websocket::response_type answer;

 private:
  static void Take(const std::string& message, Ended* ended) {
    if (message[0] == 1) ended->out += message.substr(1);
    if (message[0] == 2) ended->err += message.substr(1);
    if (message[0] == 3 && message.size() > 1) {
      ended->status = json::parse(message.substr(1)).as_object();
    }
  }

  const std::string token_;
  asio::io_context io_;
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  websocket::stream<asio::ssl::stream<asio::ip::tcp::socket>> stream_{io_, tls_};
};

class ExecOverSocket : public ::testing::Test {
 protected:
  ExecOverSocket() {
    server.Put("", "pods", Pod("p", "Running"));
    server.Put("", "pods", Pod("waits", "Pending"));
    server.Put("", "pods", Pod("done", "Succeeded"));
  }
  ~ExecOverSocket() override { EXPECT_TRUE(programs.AllGone()); }

  TestExec programs;
  TestServer server{&programs};
};

TEST_F(ExecOverSocket, OutputErrorsAndExitCode) {
  Client client(server, server.guest);
  ASSERT_EQ(
      client.Open(kPods + "p/" + kShell + "echo%20out;echo%20err>%262;exit%207&stdout=1&stderr=1"),
      101);
  EXPECT_EQ(client.answer["Sec-WebSocket-Protocol"], "v5.channel.k8s.io");
  const Ended ended = client.ReadAll();
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err, "err\n");
  EXPECT_EQ(ended.status.at("status"), "Failure");
  EXPECT_EQ(ended.status.at("reason"), "NonZeroExitCode");
  EXPECT_EQ(json::serialize(ended.status.at("details").at("causes")),
            R"([{"reason":"ExitCode","message":"7"}])");
  EXPECT_EQ(client.CloseCode(), websocket::close_code::normal);
  const port::ExecRequest asked = programs.last();
  EXPECT_EQ(asked.uid, "uid-p");
  EXPECT_EQ(asked.argv.size(), 3U);
  EXPECT_EQ(asked.in, -1);
  EXPECT_FALSE(asked.terminal);
}

// Secrets stand in a replica's environment: the log of a server that says no more than it must
// still tells who entered.
TEST_F(ExecOverSocket, WhoEntersStandsInTheLogAndWhatTheySayDoesNot) {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  const auto log =
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  log->set_level(spdlog::level::warn);
  spdlog::set_default_logger(log);
  Client client(server, server.guest);
  ASSERT_EQ(client.Open(kPods + "p/exec?command=echo&command=hush&stdout=1"), 101);
  EXPECT_EQ(client.ReadAll().out, "hush\n");
  spdlog::set_default_logger(before);
  EXPECT_THAT(text.str(), HasSubstr("guest starts \"echo\" in team/p"));
  EXPECT_THAT(text.str(), ::testing::Not(HasSubstr("hush")));
}

TEST_F(ExecOverSocket, SuccessAndWhatCannotRun) {
  Client good(server, server.admin);
  ASSERT_EQ(good.Open(kPods + "p/exec?command=true&stdout=1", "v4.channel.k8s.io"), 101);
  EXPECT_EQ(good.answer["Sec-WebSocket-Protocol"], "v4.channel.k8s.io");
  EXPECT_EQ(good.ReadAll().status.at("status"), "Success");
  Client missing(server, server.admin);
  ASSERT_EQ(missing.Open(kPods + "p/exec?command=no-such-program&stdout=1&stderr=1"), 101);
  const Ended ended = missing.ReadAll();
  EXPECT_EQ(ended.err, "no such program\n");
  EXPECT_EQ(ended.status.at("details").at("causes").at(0).at("message"), "127");
  programs.refuse = true;
  Client refused(server, server.admin);
  ASSERT_EQ(refused.Open(kPods + "p/exec?command=true&stdout=1"), 101);
  const Ended why = refused.ReadAll();
  EXPECT_EQ(why.status.at("reason"), "InternalError");
  EXPECT_EQ(why.status.at("message"), "the shim is too old for this");
}

// One message of many megabytes, and many small ones, go through unchanged, and the end of the
// input reaches the program.
TEST_F(ExecOverSocket, InputOfAnySizeComesBackAsItWent) {
  std::string bytes(5 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  Client client(server, server.guest);
  ASSERT_EQ(client.Open(kPods + "p/exec?command=cat&stdin=1&stdout=1"), 101);
  std::vector<std::string> messages{std::string(1, '\0') + bytes};
  messages.insert(messages.end(), 100, std::string("\0x", 2));
  messages.insert(messages.end(),
                  {std::string(1, '\0'), "\x09no such channel", std::string("\xff\0", 2)});
  const Ended ended = client.Exchange(messages);
  EXPECT_EQ(ended.status.at("status"), "Success");
  EXPECT_TRUE(ended.out == bytes + std::string(100, 'x')) << ended.out.size();
}

TEST_F(ExecOverSocket, InputBehindTheProgramsEndIsDropped) {
  Client client(server, server.guest);
  ASSERT_EQ(
      client.Open(kPods + "p/" + kShell + "exec%20<%26-;echo%20closed;read%20x&stdin=1&stdout=1"),
      101);
  client.Send(0, std::string(1 << 20, 'x'));
  EXPECT_EQ(client.ReadAll().out, "closed\n");
}

TEST_F(ExecOverSocket, TerminalWithItsSize) {
  Client client(server, server.guest);
  ASSERT_EQ(client.Open(kPods + "p/" + kShell +
                        "while%20[%20%22$(stty%20size)%22%20!=%20'33%20101'%20];do%20sleep%200.01;"
                        "done;tty;stty%20size;read%20line;echo%20got%20$line;cat;exit%202"
                        "&stdin=1&stdout=1&stderr=1&tty=1"),
            101);
  client.Send(4, "no size");
  client.Send(4, R"({"Width":0,"Height":33})");
  client.Send(4, R"({"Width":101,"Height":33})");
  client.Send(0, "word\n");
  client.Send(static_cast<char>(255), std::string(1, '\0'));  // is ^D there, ends `cat`
  const Ended ended = client.ReadAll();
  EXPECT_THAT(ended.out, HasSubstr("/dev/pts/"));
  EXPECT_THAT(ended.out, HasSubstr("33 101\r\n"));
  EXPECT_THAT(ended.out, HasSubstr("got word\r\n"));
  EXPECT_EQ(ended.status.at("details").at("causes").at(0).at("message"), "2");
}

// Somebody in the background who holds the output does not hold up the end.
TEST_F(ExecOverSocket, OutputThatIsStillHeldIsNotWaitedFor) {
  for (const char* tty : {"", "&tty=1"}) {
    Client client(server, server.guest);
    ASSERT_EQ(client.Open(kPods + "p/" + kShell +
                          "trap%20''%20HUP;sleep%201000%20%26%20echo%20out&stdout=1" + tty),
              101);
    const Ended ended = client.ReadAll();
    EXPECT_THAT(ended.out, HasSubstr("out"));
    EXPECT_EQ(ended.status.at("status"), "Success") << tty;
  }
}

TEST_F(ExecOverSocket, AClientThatVanishesLetsTheProgramGo) {
  for (const char* program : {"sleep%201000", "yes"}) {
    for (const char* streams : {"&stdin=1&stdout=1", "&stdout=1", "&stdin=1&stdout=1&tty=1"}) {
      Client client(server, server.guest);
      ASSERT_EQ(client.Open(kPods + "p/" + kShell + program + streams), 101);
      client.Read();
      client.Vanish();
      ASSERT_TRUE(programs.AllGone()) << program << streams;
    }
  }
}

// Programs that write without end to clients that do not read wait, and the API answers others.
TEST_F(ExecOverSocket, AReaderThatIsSlowHoldsTheProgramUp) {
  std::vector<std::unique_ptr<Client>> clients;
  const std::string count = (server.folder / "count").string();
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Client>(server, server.guest));
    // Tells how many pieces of 64 KiB were taken from it.
    ASSERT_EQ(clients.back()->Open(kPods + "p/" + kShell +
                                   "while%20head%20-c%2065536%20/dev/zero;do%20echo%20x>>" + count +
                                   std::to_string(i) + ";done&stdout=1"),
              101);
  }
  const auto taken = [&](int i) {
    std::error_code error;
    const auto lines = std::filesystem::file_size(count + std::to_string(i), error);
    return error ? 0 : lines / 2;
  };
  for (int i = 0; i < 4; ++i) {
    auto before = taken(i);
    for (int still = 0; still < 10;) {  // half a second without progress: it waits
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const auto now = taken(i);
      still = now == before && now > 0 ? still + 1 : 0;
      before = now;
      ASSERT_LT(now, 320U) << "more was taken than the kernel's own buffers hold";
    }
  }
  EXPECT_THAT(server.Good("curl -s --cacert ca.pem " + server.Url() + "/version"),
              HasSubstr("\"minor\""));
  const auto before = taken(0);
  for (std::size_t read = 0; read < (before + 40) * 65536;) read += clients[0]->Read().size();
  EXPECT_GT(taken(0), before);
}

// However late the client reads: what a terminal holds when its program ends is not cut.
TEST_F(ExecOverSocket, ASlowReaderOfATerminalGetsAllOfIt) {
  for (const std::string behind : {"", "sleep 1000 &"}) {
    const std::string count = (server.folder / "count").string() + (behind.empty() ? "0" : "1");
    const std::string script = count + ".sh";
    std::ofstream(script) << "trap '' HUP\n"
                          << behind << "\necho $$ >" << count << ".pid\n"
                          << "while :; do printf %0500d 7; echo x >>" << count << "; done\n";
    Client client(server, server.guest);
    ASSERT_EQ(client.Open(kPods + "p/exec?command=sh&command=" + script + "&stdout=1&tty=1"), 101);
    const auto written = [&] {
      std::error_code error;
      const auto lines = std::filesystem::file_size(count, error);
      return error ? 0 : lines / 2;
    };
    auto before = written();
    for (int still = 0; still < 10;) {  // half a second without progress: the terminal is full
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const auto now = written();
      still = now == before && now > 0 ? still + 1 : 0;
      before = now;
    }
    pid_t program = 0;
    std::ifstream(count + ".pid") >> program;
    ASSERT_GT(program, 0);
    kill(program, SIGKILL);
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the client takes its time
    const Ended ended = client.ReadAll();
    EXPECT_GE(ended.out.size(), written() * 500) << behind;
    EXPECT_EQ(ended.status.at("details").at("causes").at(0).at("message"), "137");
  }
}

// Nor does one who writes on behind the program's end keep the client for ever.
TEST_F(ExecOverSocket, ATerminalThatOthersFloodIsNotReadForEver) {
  Client client(server, server.guest);
  ASSERT_EQ(
      client.Open(kPods + "p/" + kShell + "trap%20''%20HUP;yes%20%26%20echo%20out&stdout=1&tty=1"),
      101);
  EXPECT_EQ(client.ReadAll().status.at("status"), "Success");
}

// While programs run, and while others just end.
TEST_F(ExecOverSocket, AServerThatStopsLetsProgramsGo) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(server, server.guest));
    const std::string program = i % 2 ? "exec?command=sleep&command=1000" : "exec?command=true";
    ASSERT_EQ(clients.back()->Open(kPods + "p/" + program + "&stdout=1"), 101);
  }
  clients[1]->Read();
  for (int i = 0; i < 20; i += 4) clients[i]->Vanish();
  server.server.Stop();
  EXPECT_TRUE(programs.AllGone());
  while (!clients[1]->Read().empty()) {
  }
}

TEST_F(ExecOverSocket, WhoMayAndWhatIsRefused) {
  const std::string reader = *server.tokens->Create(
      {.name = "reader", .namespaces = {"*"}, .verbs = {"get", "list", "watch"}});
  const std::string other = *server.tokens->Create({.name = "other", .namespaces = {"default"}});
  const std::string run = "/exec?command=true&stdout=1";
  struct Row {
    std::string token, target, protocols;
    int status;
    const char* says;
  };
  for (const Row& row : std::vector<Row>{
           {server.guest, kPods + "p" + run, "v4.channel.k8s.io,v5.channel.k8s.io", 101, ""},
           {"wrong", kPods + "p" + run, "v5.channel.k8s.io", 401, "Unauthorized"},
           {reader, kPods + "p" + run, "v5.channel.k8s.io", 403,
            "cannot create resource \\\"pods/exec\\\""},
           {reader, kPods + "p" + run + "&watch=1", "v5.channel.k8s.io", 403, "pods/exec"},
           {other, kPods + "p" + run, "v5.channel.k8s.io", 403, "pods/exec"},
           {server.guest, kPods + "none" + run, "v5.channel.k8s.io", 404, "not found"},
           {server.guest, kPods + "waits" + run, "v5.channel.k8s.io", 400, "not running"},
           {server.guest, kPods + "done" + run, "v5.channel.k8s.io", 400, "completed pod"},
           {server.guest, kPods + "p" + run + "&container=x", "v5.channel.k8s.io", 400,
            "container x is not valid"},
           {server.guest, kPods + "p/exec?stdout=1", "v5.channel.k8s.io", 400, "command"},
           {server.guest, kPods + "p/exec?command=true", "v5.channel.k8s.io", 400, "at least one"},
           {server.guest, kPods + "p" + run, "base64.channel.k8s.io", 400,
            "(base64.channel.k8s.io)"},
       }) {
    Client client(server, row.token);
    EXPECT_EQ(client.Open(row.target, row.protocols), row.status) << row.target;
    if (row.status == 101) continue;
    EXPECT_THAT(client.answer.body(), HasSubstr(row.says)) << row.target;
  }
  const std::string curl = "curl -s --cacert ca.pem -H 'Authorization: Bearer " + server.guest +
                           "' '" + server.Url() + kPods + "p" + run + "' ";
  EXPECT_THAT(server.Good(curl), HasSubstr("Upgrade request required"));
  EXPECT_THAT(server.Good(curl + "-X POST -H 'Connection: Upgrade' -H 'Upgrade: SPDY/3.1'"),
              HasSubstr("KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true"));
  EXPECT_THAT(server.Good(curl + "-X DELETE"), HasSubstr("MethodNotAllowed"));
}

TEST_F(ExecOverSocket, OnlySoManyAtOnce) {
  const auto seats = std::make_shared<ExecSeats>(2);
  auto first = ExecSeats::Take(seats);
  const auto second = ExecSeats::Take(seats);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(ExecSeats::Take(seats));
  first.reset();
  EXPECT_TRUE(ExecSeats::Take(seats));
}

class KubectlExec : public ExecOverSocket {
 protected:
  void SetUp() override {
    if (server.Run("command -v kubectl").code != 0) GTEST_SKIP() << "kubectl is not on the PATH";
  }
};

TEST_F(KubectlExec, OutputAndExitCode) {
  const Ran ran = server.Run("kubectl exec p -- sh -c 'echo hi; exit 3'", "guest");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.output, "hi\ncommand terminated with exit code 3\n");
  EXPECT_EQ(server.Run("kubectl exec -n team p -c tensorflow -- true").code, 0);
  EXPECT_THAT(server.Run("kubectl exec p -- true", "kubeconfig").output, HasSubstr("not found"));
  EXPECT_THAT(server.Run("kubectl exec waits -- true", "guest").output, HasSubstr("not running"));
}

TEST_F(KubectlExec, PipedInput) {
  EXPECT_EQ(server
                .Run("head -c 1048576 /dev/urandom > in; "
                     "kubectl exec -i p -- cat < in > out; cmp in out",
                     "guest")
                .output,
            "");
}

TEST_F(KubectlExec, Terminal) {
  EXPECT_THAT(
      server.Run("script -qec \"kubectl exec -it p -- sh -c 'tty; exit 4'\" /dev/null", "guest")
          .output,
      HasSubstr("/dev/pts/"));
  EXPECT_EQ(
      server.Run("script -qec \"kubectl exec -it p -- sh -c 'exit 4'\" /dev/null", "guest").code,
      4);
}

}  // namespace
}  // namespace pondage::api
