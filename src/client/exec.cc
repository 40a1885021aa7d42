#include "client/exec.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "client/client.h"
#include "client/json.h"
#include "client/tls.h"

namespace pondage::client {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;

namespace {

enum Channel : char { kIn = 0, kOut = 1, kErr = 2, kStatus = 3, kResize = 4, kClose = '\xff' };
constexpr std::size_t kPiece = 16 * 1024;
constexpr auto kConnectLimit = std::chrono::seconds(10);

std::string Target(const ExecWish& wish) {
  std::string target =
      wish.pod_path +
      "/exec?container=tensorflow&stdout=true&stderr=" + (wish.terminal ? "false" : "true") +
      "&stdin=" + (wish.in >= 0 ? "true" : "false") + "&tty=" + (wish.terminal ? "true" : "false");
  for (const std::string& word : wish.command) target += "&command=" + PercentEncode(word);
  return target;
}

// The last message: the exit code in a Kubernetes Status.
base::Result<int> CodeOf(std::string_view text, const std::string& target) {
  TRY(const json::value status, ParseReply(text, target));
  if (Text(status, {"status"}) == "Success") return 0;
  for (const json::value& cause : Items(status, {"details", "causes"})) {
    if (Text(cause, {"reason"}) != "ExitCode") continue;
    if (const auto code = Number(cause, {"message"})) return static_cast<int>(*code);
  }
  const auto code = static_cast<int>(NumberOr(status, {"code"}, 500));
  return std::unexpected(ErrorOf(code, text, target));
}

// Starts `operation` and runs the loop until it is done: only what is asynchronous has a time
// limit.
template <class Operation>
error_code Await(asio::io_context& loop, Operation operation) {
  std::optional<error_code> done;
  operation([&done](error_code error, auto&&...) { done = error; });
  loop.restart();
  while (!done) loop.run_one();
  return *done;
}

std::string Reason(const error_code& error) {
  return error == beast::error::timeout ? "no answer in 10 s" : error.message();
}

// One connection until the program's end. `Stream`: plain or TLS.
template <class Stream>
class Talk {
 public:
  Talk(const ServerPlace& place, const ExecWish& wish, asio::io_context& loop, Stream stream)
      : place_(place),
        wish_(wish),
        target_(Target(wish)),
        loop_(loop),
        window_changes_(loop),
        socket_(std::move(stream)) {}

  base::Result<int> Go() {
    TRY_DO(Connect());
    Read();
    if (wish_.terminal && wish_.window) {
      window_changes_.add(SIGWINCH);
      Resize();
    }
    std::jthread reader;
    const int wake = eventfd(0, EFD_CLOEXEC);
    if (wish_.in >= 0)
      reader = std::jthread([this, wake](std::stop_token stop) { Pump(wake, stop); });
    loop_.restart();
    while (!result_) loop_.run_one();
    reader.request_stop();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = ::write(wake, &one, sizeof one);
    if (reader.joinable()) reader.join();
    ::close(wake);
    return *std::move(result_);
  }

 private:
  base::Result<void> Connect();
  void Read();
  void Take(std::string_view message);
  void Resize();
  void Send(std::string message, std::promise<void> sent);
  void Write();
  void Pump(int wake, const std::stop_token& stop);

  void Lost(const error_code& error) {
    if (!result_) result_ = std::unexpected(NotReached(place_, error.message()));
  }

  const ServerPlace& place_;
  const ExecWish& wish_;
  const std::string target_;
  asio::io_context& loop_;
  asio::signal_set window_changes_;
  websocket::stream<Stream> socket_;
  beast::flat_buffer buffer_;
  struct Queued {
    std::string bytes;
    std::promise<void> sent;
  };
  std::deque<Queued> queued_;
  bool writing_ = false;
  std::optional<base::Result<int>> result_;
};

template <class Stream>
base::Result<void> Talk<Stream>::Connect() {
  socket_.binary(true);
  socket_.read_message_max(1 << 20);
  auto limits = websocket::stream_base::timeout::suggested(beast::role_type::client);
  limits.handshake_timeout = kConnectLimit;
  socket_.set_option(limits);
  socket_.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
    request.set(beast::http::field::sec_websocket_protocol, "v5.channel.k8s.io");
    request.set(beast::http::field::user_agent, "pondage/" PONDAGE_VERSION);
    if (!place_.token.empty()) {
      request.set(beast::http::field::authorization, "Bearer " + place_.token);
    }
  }));
  websocket::response_type response;
  const error_code error = Await(loop_, [&](auto done) {
    socket_.async_handshake(response, place_.host + ":" + place_.port, target_, std::move(done));
  });
  if (error == websocket::error::upgrade_declined && response.result_int() >= 400) {
    return std::unexpected(ErrorOf(response.result_int(), response.body(), target_));
  }
  if (error) return std::unexpected(NotReached(place_, Reason(error)));
  return {};
}

template <class Stream>
void Talk<Stream>::Read() {
  socket_.async_read(buffer_, [this](error_code error, std::size_t) {
    if (error) return Lost(error);
    const auto bytes = buffer_.cdata();
    Take({static_cast<const char*>(bytes.data()), bytes.size()});
    buffer_.clear();
    if (!result_) Read();
  });
}

template <class Stream>
void Talk<Stream>::Take(std::string_view message) {
  if (message.empty()) return;
  const char channel = message.front();
  message.remove_prefix(1);
  if (channel == kStatus) {
    result_ = CodeOf(message, target_);
  } else if (!message.empty() && channel == kOut) {
    wish_.on_out(message);
  } else if (!message.empty() && channel == kErr) {
    wish_.on_err(message);
  }
}

template <class Stream>
void Talk<Stream>::Resize() {
  const WindowSize size = wish_.window();
  Send(std::string(1, kResize) +
           fmt::format(R"({{"Width":{},"Height":{}}})", size.columns, size.rows),
       {});
  window_changes_.async_wait([this](error_code error, int) {
    if (!error) Resize();
  });
}

template <class Stream>
void Talk<Stream>::Send(std::string message, std::promise<void> sent) {
  queued_.push_back({std::move(message), std::move(sent)});
  if (!writing_) Write();
}

template <class Stream>
void Talk<Stream>::Write() {
  writing_ = true;
  socket_.async_write(asio::buffer(queued_.front().bytes), [this](error_code error, std::size_t) {
    writing_ = false;
    queued_.front().sent.set_value();
    queued_.pop_front();
    if (error) return Lost(error);
    if (!queued_.empty()) Write();
  });
}

// Reads the input in a thread of its own, since a file or a pipe cannot always be waited for, and
// goes on when what was read is on its way: a program that reads slowly does not fill this one.
template <class Stream>
void Talk<Stream>::Pump(int wake, const std::stop_token& stop) {
  const auto send = [&](std::string message) {
    auto sent = std::make_shared<std::promise<void>>();
    auto done = sent->get_future();
    asio::post(loop_, [this, sent, message = std::move(message)]() mutable {
      Send(std::move(message), std::move(*sent));
    });
    while (!stop.stop_requested()) {
      if (done.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) return;
    }
  };
  std::string room(kPiece, '\0');
  while (!stop.stop_requested()) {
    pollfd ready[] = {{wish_.in, POLLIN, 0}, {wake, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 && errno != EINTR) break;
    if (ready[1].revents != 0) return;
    if (ready[0].revents == 0) continue;
    const ssize_t got = ::read(wish_.in, room.data(), room.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    send(std::string(1, kIn) + room.substr(0, static_cast<std::size_t>(got)));
  }
  send({kClose, kIn});
}

base::Result<void> ConnectTcp(beast::tcp_stream& stream, asio::io_context& loop,
                              const ServerPlace& place) {
  asio::ip::tcp::resolver resolver(loop);
  error_code error;
  const auto endpoints = resolver.resolve(place.host, place.port, error);
  if (!error) {
    stream.expires_after(kConnectLimit);
    error = Await(loop, [&](auto done) { stream.async_connect(endpoints, std::move(done)); });
    stream.expires_never();
  }
  if (error) return std::unexpected(NotReached(place, Reason(error)));
  stream.socket().set_option(asio::ip::tcp::no_delay(true), error);
  return {};
}

}  // namespace

base::Result<int> Exec(const ServerPlace& place, const ExecWish& wish) {
  asio::io_context loop;
  beast::tcp_stream tcp(loop);
  TRY_DO(ConnectTcp(tcp, loop, place));
  if (!place.tls) return Talk<beast::tcp_stream>(place, wish, loop, std::move(tcp)).Go();
  asio::ssl::context context(asio::ssl::context::tls_client);
  if (const error_code error = SetUpTls(context, place)) {
    return base::Fail(base::Kind::kInvalid, "PND-C003", "",
                      "the kubeconfig's certificates are not usable: " + error.message());
  }
  using Tls = beast::ssl_stream<beast::tcp_stream>;
  Tls tls(std::move(tcp), context);
  ExpectHost(tls.native_handle(), place.host);
  tls.next_layer().expires_after(kConnectLimit);
  const error_code error = Await(loop, [&](auto done) {
    tls.async_handshake(asio::ssl::stream_base::client, std::move(done));
  });
  tls.next_layer().expires_never();
  if (error == beast::error::timeout) return std::unexpected(NotReached(place, Reason(error)));
  if (error) {
    return std::unexpected(NotReached(place, TlsReason(tls.native_handle(), error)));
  }
  return Talk<Tls>(place, wish, loop, std::move(tls)).Go();
}

}  // namespace pondage::client
