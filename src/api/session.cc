#include "api/session.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <chrono>
#include <ctime>
#include <utility>

#include "api/socket.h"

namespace pondage::api {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::uint32_t kHeaderLimit = 64 << 10;
constexpr std::uint64_t kBodyLimit = 3 << 20;
// Larger bodies are taken only from those who are known, and only so much of them at once.
constexpr std::uint64_t kLargeBody = 256 << 10;
constexpr std::uint64_t kLargeBodies = 96 << 20;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return lower;
}

std::string_view View(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

// A header value of ours never ends the header, whatever went into it.
void AppendField(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) out.push_back(c == '\r' || c == '\n' ? ' ' : c);
  out.append("\r\n");
}

// What the connection may become: lower case, empty when it stays as it is.
std::string UpgradeOf(const http::request<http::string_body>& message) {
  if (boost::beast::websocket::is_upgrade(message)) return "websocket";
  if (!http::token_list(message[http::field::connection]).exists("upgrade")) return "";
  const std::string upgrade = Lower(View(message[http::field::upgrade]));
  return upgrade == "websocket" ? "websocket (not as RFC 6455 has it)" : upgrade;
}

std::vector<std::string> ProtocolsOf(const http::request<http::string_body>& message) {
  std::vector<std::string> protocols;
  for (const auto& field : message) {
    if (field.name() != http::field::sec_websocket_protocol) continue;
    for (const auto& token : http::token_list(field.value())) protocols.emplace_back(View(token));
  }
  return protocols;
}

Response Plain(int status, std::string_view reason, std::string_view message) {
  Response response;
  response.status = status;
  response.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}",)"
      R"("reason":"{}","code":{}}})",
      message, reason, status);
  return response;
}

}  // namespace

std::string HttpDate() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 40> text{};
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text.data(), size};
}

// Keeps a session, and the transport under it, until its answer came.
class Session::Pending {
 public:
  Pending(std::shared_ptr<Session> of, SessionHost& host) : session(std::move(of)), host_(host) {
    ++host_.in_flight;
  }
  ~Pending() {
    session.reset();
    --host_.in_flight;
  }
  std::shared_ptr<Session> session;

 private:
  SessionHost& host_;
};

// Goes with the write that holds it, whether that comes to its end or not.
class Session::Counted {
 public:
  explicit Counted(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<std::size_t>& count_;
};

Session::Session(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> tls,
                 SessionHost& host)
    : tls_(std::move(tls)),
      stream_(std::move(socket), *tls_),
      host_(host),
      deadline_(stream_.get_executor()),
      wake_(stream_.get_executor()) {
  ++host_.open;
}

Session::~Session() {
  LeaveRoom();
  --host_.open;
  ++host_.ended;
}

void Session::Start() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->Arm(self->host_.options.request_limit);
    self->stream_.async_handshake(asio::ssl::stream_base::server, [self](Error error) {
      if (error) return self->Drop();
      self->ReadHeader();
    });
  });
}

void Session::Arm(base::Millis limit) {
  deadline_.expires_after(std::chrono::milliseconds(limit.value));
  deadline_.async_wait([weak = weak_from_this()](Error error) {
    if (error) return;
    if (auto self = weak.lock()) self->Drop();
  });
}

void Session::Drop() {
  if (dropped_) return;
  dropped_ = true;
  body_.reset();
  deadline_.cancel();
  wake_.cancel();
  Error ignored;
  stream_.next_layer().close(ignored);
}

void Session::ReadHeader() {
  if (dropped_) return;
  parser_.emplace();
  parser_->header_limit(kHeaderLimit);
  parser_->body_limit(kBodyLimit);
  Arm(host_.options.idle_limit);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](Error error, std::size_t) { self->OnHeader(error); });
}

void Session::OnHeader(Error error) {
  if (error) return Refuse(error);
  if (parser_->is_done()) return OnBody({});
  if (!TakeRoom()) return;
  const auto expect = parser_->get().find(http::field::expect);
  if (expect == parser_->get().end() || Lower(View(expect->value())) != "100-continue") {
    return ReadBody();
  }
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  Write([this] { ReadBody(); });
}

// A body costs memory before anybody has looked at it. False: it was refused.
bool Session::TakeRoom() {
  const auto length = parser_->content_length();
  const std::uint64_t claimed = std::min(length ? *length : kBodyLimit, kBodyLimit);
  if (claimed <= kLargeBody) return true;
  keep_alive_ = false;
  drain_ = true;
  if (!host_.options.knows(View(parser_->get()[http::field::authorization]))) {
    Answer(Plain(401, "Unauthorized", "Unauthorized"), false);
    return false;
  }
  room_ = claimed;
  if (host_.large_bodies.fetch_add(claimed) + claimed > kLargeBodies) {
    Response busy = Plain(429, "TooManyRequests", "too many large bodies at once, try again");
    busy.headers.emplace_back("Retry-After", "1");
    Answer(std::move(busy), false);
    return false;
  }
  drain_ = false;
  return true;
}

void Session::LeaveRoom() {
  host_.large_bodies -= std::exchange(room_, 0);
}

void Session::ReadBody() {
  Arm(host_.options.request_limit);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](Error error, std::size_t) { self->OnBody(error); });
}

void Session::Refuse(Error error) {
  keep_alive_ = false;
  chunked_ = true;
  if (error == http::error::body_limit) {
    drain_ = true;  // else the rest of the body on the wire would reset the answer away
    return Answer(Plain(413, "RequestEntityTooLarge", "the body of the request is over 3 MiB"),
                  false);
  }
  if (error == http::error::header_limit) {
    return Answer(Plain(431, "BadRequest", "the header of the request is over 64 KiB"), false);
  }
  const bool malformed =
      error.category() == http::make_error_code(http::error::bad_method).category();
  if (malformed && error != http::error::end_of_stream && error != http::error::partial_message) {
    return Answer(Plain(400, "BadRequest", "this is no HTTP/1.1 request"), false);
  }
  Drop();
}

void Session::OnBody(Error error) {
  if (error) return Refuse(error);
  auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  chunked_ = message.version() >= 11;
  auto request = MakeRequest(View(message.method_string()), View(message.target()));
  if (!request) return Answer(Plain(400, "BadRequest", "the request's target is malformed"), false);
  request->accept = View(message[http::field::accept]);
  request->authorization = View(message[http::field::authorization]);
  request->user_agent = View(message[http::field::user_agent]);
  const std::string_view type = View(message[http::field::content_type]);
  request->content_type = Lower(type.substr(0, type.find(';')));
  while (request->content_type.ends_with(' ')) request->content_type.pop_back();
  request->upgrade = UpgradeOf(message);
  if (!request->upgrade.empty()) request->protocols = ProtocolsOf(message);
  request->body = std::move(message.body());
  const bool head_only = request->method == "HEAD";
  deadline_.cancel();  // the handler bounds itself
  auto pending = std::make_shared<Pending>(shared_from_this(), host_);
  host_.handler(*std::move(request), [pending, head_only](Response response) {
    asio::dispatch(
        pending->session->stream_.get_executor(),
        [pending, head_only, response = std::make_shared<Response>(std::move(response))] {
          pending->session->Answer(std::move(*response), head_only);
        });
  });
}

void Session::BecomeSocket(Response response) {
  if (buffer_.size() > 0) {
    keep_alive_ = false;
    return Answer(Plain(400, "BadRequest", "nothing may follow before the answer"), false);
  }
  dropped_ = true;  // nothing of it happens here any more
  deadline_.cancel();
  wake_.cancel();
  std::make_shared<Socket>(std::move(stream_), std::move(response.talk), host_, shared_from_this())
      ->Accept(parser_->release(), response.protocol);
}

void Session::Answer(Response response, bool head_only) {
  if (dropped_) return;
  if (response.talk) return BecomeSocket(std::move(response));
  LeaveRoom();
  const bool streamed = response.stream && !head_only;
  if (streamed && (response.stream->Live() || !chunked_)) keep_alive_ = false;
  const auto reason = View(http::obsolete_reason(static_cast<http::status>(response.status)));
  out_ = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason);
  AppendField(out_, "Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) AppendField(out_, name, value);
  if (!keep_alive_) AppendField(out_, "Connection", "close");
  if (streamed) {
    if (chunked_) AppendField(out_, "Transfer-Encoding", "chunked");
  } else if (response.status != 204) {
    AppendField(out_, "Content-Length", std::to_string(response.body.size()));
  }
  AppendField(out_, "Date", HttpDate());
  AppendField(out_, "Cache-Control", "no-cache, private");
  out_.append("\r\n");
  if (!streamed) {
    if (!head_only) out_.append(response.body);
    return Write([this, unsent = std::make_shared<Counted>(host_.unsent)] { Finish(); });
  }
  body_ = std::move(response.stream);
  body_->OnReady([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    asio::post(self->stream_.get_executor(), [self] {
      if (!self->writing_ && self->body_) self->Pump();
    });
  });
  if (body_->Live()) NoticeHangUp();
  Pump();  // the first piece goes out with the header
}

void Session::Write(std::function<void()> then) {
  writing_ = true;
  Arm(host_.options.write_limit);
  asio::async_write(stream_, asio::buffer(out_),
                    [self = shared_from_this(), then = std::move(then)](Error error, std::size_t) {
                      self->writing_ = false;
                      if (error) return self->Drop();
                      if (self->dropped_) return;
                      self->deadline_.cancel();
                      self->out_.clear();
                      then();
                    });
}

void Session::Pump() {
  if (!body_) return;
  piece_.clear();
  const Stream::Next next = body_->Fill(piece_);
  if (next == Stream::Next::kBroken) return Drop();
  if (!piece_.empty() && chunked_) {
    out_.append(fmt::format("{:x}\r\n", piece_.size())).append(piece_).append("\r\n");
  } else {
    out_.append(piece_);
  }
  if (next == Stream::Next::kEnd) return FinishStream();
  if (!out_.empty()) return Write([this] { Pump(); });
  if (next == Stream::Next::kMore) return Pump();
  wake_.expires_after(std::chrono::milliseconds(body_->WaitAtMost().value));
  wake_.async_wait([weak = weak_from_this()](Error error) {
    auto self = weak.lock();
    if (!error && self && !self->writing_) self->Pump();
  });
}

void Session::FinishStream() {
  body_.reset();
  wake_.cancel();
  if (chunked_) out_.append("0\r\n\r\n");
  Write([this] { Finish(); });
}

// Reads on for a few seconds, so that a client in the middle of its body comes to read the answer.
void Session::Drain() {
  if (!std::exchange(draining_, true)) Arm(base::Millis{5'000});
  piece_.resize(64 << 10);
  stream_.async_read_some(asio::buffer(piece_),
                          [self = shared_from_this()](Error error, std::size_t) {
                            if (error) return self->Drop();
                            self->Drain();
                          });
}

void Session::NoticeHangUp() {
  stream_.async_read_some(asio::buffer(&spare_, 1),
                          [self = shared_from_this()](Error error, std::size_t) {
                            if (error) self->Drop();
                          });
}

// A connection that waits for its next request, perhaps for minutes, keeps no buffers.
void Session::Finish() {
  if (keep_alive_) {
    out_ = std::string();
    piece_ = std::string();
    buffer_.shrink_to_fit();
    return ReadHeader();
  }
  if (drain_) return Drain();
  Arm(base::Millis{5'000});
  stream_.async_shutdown([self = shared_from_this()](Error) { self->Drop(); });
}

}  // namespace pondage::api
