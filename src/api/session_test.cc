// What a connection is told whatever it asks for, and what many of them may hold at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/test_server.h"
#include "api/transport.h"

namespace pondage::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

class Connection {
 public:
  explicit Connection(const TestServer& server) : Connection(server.server.port()) {}
  explicit Connection(std::uint16_t port) {
    stream_.lowest_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    stream_.handshake(asio::ssl::stream_base::client);
  }
  void Send(const std::string& bytes) { asio::write(stream_, asio::buffer(bytes)); }
  http::response<http::string_body> Answer(bool head_only = false) {
    http::response_parser<http::string_body> parser;
    parser.skip(head_only);
    beast::error_code error;
    http::read(stream_, buffer_, parser, error);
    EXPECT_FALSE(error) << error.message();
    return parser.release();
  }
  // An answer in two parts: its status when its header came, then the length of its body.
  unsigned Begin() {
    long_.body_limit(boost::none);
    http::read_header(stream_, buffer_, long_);
    return long_.get().result_int();
  }
  std::size_t Rest() {
    beast::error_code error;
    http::read(stream_, buffer_, long_, error);
    EXPECT_FALSE(error) << error.message();
    return long_.get().body().size();
  }

 private:
  http::response_parser<http::string_body> long_;
  asio::io_context io_;
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket> stream_{io_, tls_};
  beast::flat_buffer buffer_;
};

class SessionTest : public ::testing::Test {
 protected:
  std::string Head(const std::string& method, const std::string& target, const std::string& more,
                   const std::string& token) const {
    return method + " " + target + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
           "\r\n" + more + "\r\n";
  }
  TestServer server_;
};

// What was done and is not told would be done again: a stop waits until clients have it.
TEST_F(SessionTest, AnAnswerUnderWayComesWholeThoughTheServerStops) {
  constexpr std::size_t kLong = 16 << 20;  // more than lies in buffers between the two
  Transport transport;
  TransportOptions options{.listener = *Listener::On("127.0.0.1", 0),
                           .certificate_pem = server_.certificate.certificate_pem,
                           .key_pem = server_.certificate.key_pem};
  ASSERT_TRUE(transport.Start(std::move(options), [](const Request&, const Reply& reply) {
    Response response;
    response.content_type = "text/plain";
    response.body = std::string(kLong, 'x');
    reply(std::move(response));
  }));
  Connection connection(transport.port());
  connection.Send(Head("GET", "/", "", ""));
  EXPECT_EQ(connection.Begin(), 200U);
  std::thread stop([&] { transport.Stop(); });
  EXPECT_EQ(connection.Rest(), kLong);
  stop.join();
}

TEST_F(SessionTest, EveryAnswerHasOneDate) {
  struct Row {
    std::string sent;
    unsigned status;
  };
  const std::string make = "/api/v1/namespaces/team/configmaps";
  const Row kRows[] = {
      {Head("GET", "/healthz", "", ""), 200},
      {Head("HEAD", "/healthz", "", ""), 200},
      {Head("GET", "/api/v1/namespaces", "", server_.admin), 200},
      {Head("GET", "/api/v1/namespaces", "", "wrong"), 401},
      {Head("GET", "/api/v1/namespaces/other/secrets", "", server_.guest), 403},
      {Head("GET", "/api/v1/namespaces/team/pods/none", "", server_.admin), 404},
      {Head("GET", "/api/v1/namespaces/team/pods?watch=1&timeoutSeconds=1", "", server_.admin),
       200},
      {Head("POST", make, "Content-Length: 2\r\n", server_.admin) + "{}", 422},
      {Head("POST", make, "Content-Length: 9999999\r\n", server_.admin), 413},
      {"this is no request\r\n\r\n", 400},
  };
  for (const Row& row : kRows) {
    Connection connection(server_);
    connection.Send(row.sent);
    const auto answer = connection.Answer(row.sent.starts_with("HEAD"));
    EXPECT_EQ(answer.result_int(), row.status) << row.sent;
    EXPECT_EQ(answer.count(http::field::date), 1U) << row.sent;
  }
}

// Large bodies are announced, and room is kept for so many as fit; who comes then is told to come
// again, and does when others have left.
TEST_F(SessionTest, LargeBodiesTogetherAreBounded) {
  const std::string announced =
      Head("POST", "/api/v1/namespaces/team/configmaps",
           "Content-Type: application/json\r\nContent-Length: 3145728\r\nExpect: 100-continue\r\n",
           server_.admin);
  const auto announce = [&] {
    auto connection = std::make_unique<Connection>(server_);
    connection->Send(announced);
    auto answer = connection->Answer();
    return std::pair(std::move(connection), std::move(answer));
  };
  std::vector<std::unique_ptr<Connection>> holders;
  for (int i = 0; i < 32; ++i) {
    auto [connection, answer] = announce();
    ASSERT_EQ(answer.result_int(), 100U) << i;
    holders.push_back(std::move(connection));
  }
  auto [late, refusal] = announce();
  EXPECT_EQ(refusal.result_int(), 429U);
  EXPECT_EQ(refusal["Retry-After"], "1");
  EXPECT_THAT(refusal.body(), ::testing::HasSubstr("too many large bodies"));
  Connection small(server_);  // is not concerned
  small.Send(Head("GET", "/api/v1/namespaces", "", server_.admin));
  EXPECT_EQ(small.Answer().result_int(), 200U);

  holders.clear();
  unsigned status = 429;
  while (status == 429) status = announce().second.result_int();
  EXPECT_EQ(status, 100U);
}

}  // namespace
}  // namespace pondage::api
