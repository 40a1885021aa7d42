#include "api/socket.h"

#include <boost/asio/post.hpp>
#include <boost/beast/websocket/error.hpp>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace pondage::api {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

namespace {

// Often enough for the middle boxes that forget a connection where nothing moves. An answer is not
// waited for: one who reads slowly is not gone.
constexpr auto kPingEvery = std::chrono::seconds(30);
constexpr base::Millis kFarewell{5'000};

}  // namespace

Socket::Socket(Tls stream, std::shared_ptr<Talk> talk, SessionHost& host,
               std::shared_ptr<void> keeps)
    : keeps_(std::move(keeps)),
      host_(host),
      stream_(std::move(stream)),
      ping_(stream_.get_executor()),
      deadline_(stream_.get_executor()),
      talk_(std::move(talk)) {
  const std::lock_guard lock(host_.sockets_mutex);
  host_.sockets.insert(this);
}

Socket::~Socket() {
  talk_.reset();
  const std::lock_guard lock(host_.sockets_mutex);
  host_.sockets.erase(this);
}

void Socket::Accept(Upgrade request, const std::string& protocol) {
  {
    const std::lock_guard lock(host_.sockets_mutex);
    if (host_.closing) return;
  }
  request_ = std::move(request);
  stream_.read_message_max(0);  // a message is handed on in pieces, never held whole
  stream_.auto_fragment(false);
  stream_.binary(true);
  stream_.set_option(
      websocket::stream_base::decorator([protocol](websocket::response_type& answer) {
        answer.set(http::field::sec_websocket_protocol, protocol);
        answer.set(http::field::date, HttpDate());
      }));
  DropWithin(host_.options.request_limit);
  stream_.async_accept(request_, [self = shared_from_this()](Error error) {
    if (error || self->dropped_) return self->Drop();
    self->deadline_.cancel();
    self->PingLater();
    self->talk_->Begin(*self, self->stream_.get_executor());
  });
}

void Socket::Send(std::string message) {
  if (dropped_) return;
  out_ = std::move(message);
  stream_.async_write(asio::buffer(out_), [self = shared_from_this()](Error error, std::size_t) {
    if (error) return self->Drop();
    if (!self->dropped_) self->talk_->OnSent();
  });
}

void Socket::ReadOn() {
  if (dropped_) return;
  stream_.async_read_some(asio::buffer(piece_),
                          [self = shared_from_this()](Error error, std::size_t size) {
                            if (error) return self->Drop();
                            if (self->dropped_) return;
                            const bool last = self->stream_.is_message_done();
                            const bool first = std::exchange(self->first_, last);
                            self->talk_->OnPiece({self->piece_.data(), size}, first, last);
                          });
}

void Socket::HangUp() {
  if (dropped_) return;
  ping_.cancel();
  DropWithin(kFarewell);
  stream_.async_close(websocket::close_code::normal,
                      [self = shared_from_this()](Error) { self->Drop(); });
}

void Socket::PingLater() {
  ping_.expires_after(kPingEvery);
  ping_.async_wait([self = shared_from_this()](Error stopped) {
    if (stopped || self->dropped_) return;
    self->stream_.async_ping({}, [self](Error error) {
      if (error) return self->Drop();
      if (!self->dropped_) self->PingLater();
    });
  });
}

void Socket::DropWithin(base::Millis limit) {
  deadline_.expires_after(std::chrono::milliseconds(limit.value));
  deadline_.async_wait([weak = weak_from_this()](Error stopped) {
    if (stopped) return;
    if (const auto self = weak.lock()) self->Drop();
  });
}

void Socket::Drop() {
  if (std::exchange(dropped_, true)) return;
  talk_.reset();
  ping_.cancel();
  deadline_.cancel();
  Error ignored;
  boost::beast::get_lowest_layer(stream_).close(ignored);
}

void Socket::DropAll(SessionHost& host) {
  // Let go of without the lock: the last hold destroys a socket, which takes the lock.
  std::vector<std::shared_ptr<Socket>> living;
  std::unique_lock lock(host.sockets_mutex);
  host.closing = true;
  for (Socket* socket : host.sockets) living.push_back(socket->weak_from_this().lock());
  lock.unlock();
  for (auto& socket : living) {
    if (!socket) continue;  // it is being destroyed and needs no help
    asio::post(socket->stream_.get_executor(), [socket] { socket->Drop(); });
  }
  living.clear();
  lock.lock();
  while (!host.sockets.empty()) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
}

}  // namespace pondage::api
