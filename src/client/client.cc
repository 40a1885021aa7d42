#include "client/client.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "client/tls.h"

namespace pondage::client {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using base::Fail;
using base::Kind;
using boost::system::error_code;

namespace {

constexpr std::uint64_t kLargestAnswer = std::uint64_t{1} << 30;
constexpr auto kConnectLimit = std::chrono::seconds(10);
constexpr auto kNoLimit = std::chrono::hours(24 * 365);

}  // namespace

// One connection with its own event loop. Every operation is asynchronous inside and waited for
// here, because only so can it be given up at a time limit or when a stop is asked for.
struct Client::Wire {
  using Tcp = beast::tcp_stream;
  using Tls = beast::ssl_stream<beast::tcp_stream>;

  asio::io_context loop;
  asio::ssl::context context{asio::ssl::context::tls_client};
  std::variant<std::monostate, std::unique_ptr<Tcp>, std::unique_ptr<Tls>> stream;
  beast::flat_buffer buffer;
  bool open = false;

  Tcp& Lowest() {
    if (auto* tls = std::get_if<std::unique_ptr<Tls>>(&stream)) return (*tls)->next_layer();
    return *std::get<std::unique_ptr<Tcp>>(stream);
  }

  void Close() {
    if (!std::holds_alternative<std::monostate>(stream)) {
      error_code ignored;
      Lowest().socket().close(ignored);
    }
    open = false;
    buffer.clear();
  }

  // Starts `operation` with a completion handler and runs the loop until it came.
  template <class Operation>
  error_code Await(std::chrono::milliseconds limit, const std::stop_token& stop,
                   Operation operation) {
    Lowest().expires_after(limit);
    std::optional<error_code> result;
    bool stopped = false;
    operation([&result](error_code error, auto&&...) { result = error; });
    loop.restart();
    while (!result) {
      loop.run_one_for(std::chrono::milliseconds(100));
      if (loop.stopped()) loop.restart();
      if (!stopped && stop.stop_requested()) {
        stopped = true;
        error_code ignored;
        Lowest().socket().close(ignored);
      }
    }
    return stopped ? error_code(asio::error::operation_aborted) : *result;
  }

  template <class Use>
  auto OnStream(Use use) {
    if (auto* tls = std::get_if<std::unique_ptr<Tls>>(&stream)) return use(**tls);
    return use(*std::get<std::unique_ptr<Tcp>>(stream));
  }

  std::optional<std::string> Certificate() {
    auto* tls = std::get_if<std::unique_ptr<Tls>>(&stream);
    X509* peer = tls == nullptr ? nullptr : SSL_get1_peer_certificate((*tls)->native_handle());
    if (peer == nullptr) return std::nullopt;
    unsigned char* bytes = nullptr;
    const int length = i2d_X509(peer, &bytes);
    X509_free(peer);
    if (length <= 0) return std::nullopt;
    std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
    OPENSSL_free(bytes);
    return der;
  }

  bool Closed();
  base::Result<void> Open(const ServerPlace& place, const std::stop_token& stop);
  base::Result<void> Shake(const ServerPlace& place, const std::stop_token& stop);
};

base::Error NotReached(const ServerPlace& place, const std::string& why) {
  return {Kind::kUnavailable, "PND-C001", "",
          fmt::format("the pondage server at {} is not reached: {}\nits address comes from {}",
                      place.Url(), why, place.origin)};
}

namespace {

base::Error AnswerLost(const ServerPlace& place, const std::string& why) {
  return {Kind::kUnavailable, "PND-C023", "",
          fmt::format("the connection to {} broke before the answer: {}", place.Url(), why)};
}

base::Error InTime(const ServerPlace& place) {
  return {Kind::kUnavailable, "PND-C006", "",
          fmt::format("the pondage server at {} did not answer in time", place.Url())};
}

}  // namespace

base::Result<void> Client::Wire::Open(const ServerPlace& place, const std::stop_token& stop) {
  Close();
  error_code error;
  asio::ip::tcp::resolver resolver(loop);
  const auto endpoints = resolver.resolve(place.host, place.port, error);
  if (error) return std::unexpected(NotReached(place, error.message()));
  if (place.tls) {
    context = asio::ssl::context(asio::ssl::context::tls_client);
    error = SetUpTls(context, place);
    if (error) {
      return Fail(Kind::kInvalid, "PND-C003", "",
                  "the kubeconfig's certificates are not usable: " + error.message());
    }
    stream = std::make_unique<Tls>(loop, context);
  } else {
    stream = std::make_unique<Tcp>(loop);
  }
  error = Await(kConnectLimit, stop,
                [&](auto done) { Lowest().async_connect(endpoints, std::move(done)); });
  if (error) {
    return std::unexpected(
        NotReached(place, error == beast::error::timeout ? "no answer in 10 s" : error.message()));
  }
  error_code ignored;
  Lowest().socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  if (place.tls) TRY_DO(Shake(place, stop));
  open = true;
  return {};
}

base::Result<void> Client::Wire::Shake(const ServerPlace& place, const std::stop_token& stop) {
  Tls& tls = *std::get<std::unique_ptr<Tls>>(stream);
  SSL* ssl = tls.native_handle();
  ExpectHost(ssl, place.host);
  const error_code error = Await(kConnectLimit, stop, [&](auto done) {
    tls.async_handshake(asio::ssl::stream_base::client, std::move(done));
  });
  if (!error) return {};
  const std::string why = TlsReason(ssl, error);
  Close();
  return std::unexpected(NotReached(place, why));
}

Client::Client(ServerPlace place, std::chrono::milliseconds timeout)
    : place_(std::move(place)), timeout_(timeout), wire_(std::make_unique<Wire>()) {}

Client::~Client() {
  wire_->Close();
}

std::unique_ptr<Client> Client::Fork() const {
  auto fork = std::make_unique<Client>(place_, timeout_);
  fork->Tell(on_answer_);
  return fork;
}

namespace {

http::request<http::string_body> ToHttp(const Request& request, const ServerPlace& place) {
  http::request<http::string_body> message;
  message.version(11);
  message.method_string(request.method);
  message.target(request.target);
  message.set(http::field::host, place.host + ":" + place.port);
  message.set(http::field::user_agent, "pondage/" PONDAGE_VERSION);
  message.set(http::field::accept, request.accept);
  if (!place.token.empty()) message.set(http::field::authorization, "Bearer " + place.token);
  if (!request.body.empty()) {
    message.set(http::field::content_type, request.content_type);
    message.body() = request.body;
  }
  message.prepare_payload();
  return message;
}

// The text of `299 - "text"`.
std::string WarningText(std::string_view value) {
  const std::size_t first = value.find('"');
  const std::size_t last = value.rfind('"');
  if (first == std::string_view::npos || last <= first) return std::string(value);
  std::string text;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (value[i] == '\\' && i + 1 < last) ++i;
    text += value[i];
  }
  return text;
}

// "Tue, 01 Dec 2026 07:05:00 GMT".
std::optional<base::Instant> ParseHttpDate(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0' || text.empty()) return std::nullopt;
  return base::Instant{static_cast<std::int64_t>(timegm(&parts)) * 1000};
}

std::chrono::milliseconds Since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               began);
}

using Headers = std::vector<std::pair<std::string, std::string>>;

Headers HeadersOf(const http::fields& fields) {
  Headers headers;
  for (const auto& field : fields) headers.emplace_back(field.name_string(), field.value());
  return headers;
}

}  // namespace

std::string Client::Header(std::string_view name) const {
  for (const auto& [key, value] : headers_) {
    if (beast::iequals(key, name)) return value;
  }
  return {};
}

// Whether the server has closed a kept connection meanwhile: on one that is in order nothing can be
// read between two answers.
bool Client::Wire::Closed() {
  pollfd wanted{Lowest().socket().native_handle(), POLLIN, 0};
  return ::poll(&wanted, 1, 0) != 0;
}

base::Result<Reply> Client::Send(const Request& request) {
  const auto began = std::chrono::steady_clock::now();
  auto reply = Ask(request);
  if (on_answer_)
    on_answer_(request.method, request.target, reply ? reply->status : 0, Since(began));
  return reply;
}

base::Result<Reply> Client::Ask(const Request& request) {
  const bool kept = wire_->open && !wire_->Closed();
  if (!kept) TRY_DO(wire_->Open(place_, {}));
  auto message = ToHttp(request, place_);
  http::response_parser<http::string_body> parser;
  parser.body_limit(kLargestAnswer);
  const error_code error = wire_->OnStream([&](auto& stream) {
    error_code result = wire_->Await(
        timeout_, {}, [&](auto done) { http::async_write(stream, message, std::move(done)); });
    if (!result) {
      result = wire_->Await(timeout_, {}, [&](auto done) {
        http::async_read(stream, wire_->buffer, parser, std::move(done));
      });
    }
    return result;
  });
  if (error) {
    wire_->Close();
    if (error == beast::error::timeout) return std::unexpected(InTime(place_));
    // The server may close a kept connection at any time: one fresh try, unless some of the answer
    // was seen. What changes something is not repeated: it may have been done.
    if (kept && !parser.got_some() && request.method == "GET") return Ask(request);
    if (request.method != "GET") return std::unexpected(AnswerLost(place_, error.message()));
    return std::unexpected(NotReached(place_, error.message()));
  }
  Reply reply;
  reply.status = parser.get().result_int();
  for (const auto& field : parser.get()) {
    if (field.name() == http::field::warning) {
      reply.warnings.push_back(WarningText(std::string_view(field.value())));
    }
  }
  headers_ = HeadersOf(parser.get());
  server_time_ = ParseHttpDate(Header("Date"));
  if (!certificate_) certificate_ = wire_->Certificate();
  if (!parser.get().keep_alive()) wire_->Close();
  reply.body = std::move(parser.get().body());
  return reply;
}

base::Result<json::value> Client::Exchange(const Request& request) {
  TRY(Reply reply, Send(request));
  for (std::string& text : reply.warnings) warnings_.push_back(std::move(text));
  if (reply.status >= 400) {
    return std::unexpected(ErrorOf(reply.status, reply.body, request.target));
  }
  if (reply.body.empty()) return json::value(json::object());
  return ParseReply(reply.body, request.target);
}

base::Result<json::value> Client::Get(const std::string& target) {
  Request request;
  request.target = target;
  return Exchange(request);
}

base::Result<json::value> Client::Post(const std::string& target, const json::value& body) {
  Request request;
  request.method = "POST";
  request.target = target;
  request.body = json::serialize(body);
  return Exchange(request);
}

base::Result<json::value> Client::MergePatch(const std::string& target, const json::value& body) {
  Request request;
  request.method = "PATCH";
  request.target = target;
  request.body = json::serialize(body);
  request.content_type = "application/merge-patch+json";
  return Exchange(request);
}

base::Result<json::value> Client::Delete(const std::string& target, const json::value& options) {
  Request request;
  request.method = "DELETE";
  request.target = target;
  if (!options.is_null()) request.body = json::serialize(options);
  return Exchange(request);
}

std::vector<std::string> Client::TakeWarnings() {
  return std::exchange(warnings_, {});
}

base::Result<void> Client::Bytes(const std::string& target, const OnBytes& on_bytes,
                                 std::stop_token stop) {
  const auto began = std::chrono::steady_clock::now();
  // A stream ends with its connection, so it always has one of its own.
  TRY_DO(wire_->Open(place_, stop));
  Request request;
  request.target = target;
  request.accept = "*/*";
  auto message = ToHttp(request, place_);
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);
  error_code error = wire_->OnStream([&](auto& stream) {
    error_code result = wire_->Await(
        timeout_, stop, [&](auto done) { http::async_write(stream, message, std::move(done)); });
    if (result) return result;
    return wire_->Await(kNoLimit, stop, [&](auto done) {
      http::async_read_header(stream, wire_->buffer, parser, std::move(done));
    });
  });
  headers_ = HeadersOf(parser.get());
  if (on_answer_)
    on_answer_(request.method, target, error ? 0 : parser.get().result_int(), Since(began));
  std::string refused;
  std::vector<char> room(64 * 1024);
  bool wanted = error || parser.get().result_int() >= 400 || on_bytes({});
  while (!error && wanted && !parser.is_done()) {
    parser.get().body().data = room.data();
    parser.get().body().size = room.size();
    error = wire_->OnStream([&](auto& stream) {
      return wire_->Await(kNoLimit, stop, [&](auto done) {
        http::async_read_some(stream, wire_->buffer, parser, std::move(done));
      });
    });
    if (error == http::error::need_buffer) error = {};
    const std::string_view got(room.data(), room.size() - parser.get().body().size);
    if (parser.get().result_int() >= 400) {
      refused += got;
    } else if (!got.empty()) {
      wanted = on_bytes(got);
    }
  }
  wire_->Close();
  if (stop.stop_requested()) return {};
  if (error && wanted) return std::unexpected(NotReached(place_, error.message()));
  const int status = parser.get().result_int();
  if (status >= 400) return std::unexpected(ErrorOf(status, refused, target));
  return {};
}

base::Result<void> Client::Lines(const std::string& target, const OnLine& on_line,
                                 std::stop_token stop) {
  std::string pending;
  bool wanted = true;
  auto outcome = Bytes(
      target,
      [&](std::string_view bytes) {
        while (wanted && !bytes.empty()) {
          const std::size_t end = bytes.find('\n');
          if (end == std::string_view::npos) {
            pending += bytes;
            break;
          }
          pending += bytes.substr(0, end);
          bytes.remove_prefix(end + 1);
          wanted = on_line(pending, true);
          pending.clear();
        }
        return wanted;
      },
      std::move(stop));
  if (wanted && !pending.empty()) on_line(pending, false);
  return outcome;
}

namespace {

Kind KindOfStatus(int status) {
  switch (status) {
    case 401:
    case 403:
      return Kind::kForbidden;
    case 404:
      return Kind::kNotFound;
    case 409:
      return Kind::kConflict;
    case 410:
      return Kind::kExpired;
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return Kind::kUnavailable;
    default:
      return Kind::kInvalid;
  }
}

// The id that a message of the server ends with, "... (PND-E001)", taken off it.
std::string TakeId(std::string& message) {
  constexpr std::size_t kLength = sizeof " (PND-E001)" - 1;
  if (message.size() < kLength || !message.ends_with(')')) return {};
  const std::string tail = message.substr(message.size() - kLength);
  if (!tail.starts_with(" (PND-")) return {};
  message.resize(message.size() - kLength);
  return tail.substr(2, kLength - 3);
}

}  // namespace

base::Error ErrorOf(int status, std::string_view body, std::string_view target) {
  base::Error error;
  error.kind = KindOfStatus(status);
  error.object = target.substr(0, target.find('?'));
  boost::system::error_code bad;
  const json::value answer = json::parse(body, bad);
  if (bad || !answer.is_object()) {
    error.message = fmt::format("the server answered {}: {}", status, body.substr(0, 200));
  } else {
    error.message = Text(answer, {"message"});
    if (Text(answer, {"reason"}) == "AlreadyExists") error.kind = Kind::kAlreadyExists;
    error.id = Text(answer, {"details", "id"});
    for (const json::value& cause : Items(answer, {"details", "causes"})) {
      const std::string reason = Text(cause, {"reason"});
      if (error.id.empty() && reason.starts_with("PND-")) error.id = reason;
    }
  }
  if (error.id.empty()) error.id = TakeId(error.message);
  if (error.id.empty()) {
    error.id = status == 401   ? "PND-C004"
               : status == 403 ? "PND-C005"
               : status == 404 ? "PND-C008"
               : status == 409 ? "PND-C007"
               : status >= 500 ? "PND-C013"
                               : "PND-C009";
  }
  return error;
}

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace pondage::client
