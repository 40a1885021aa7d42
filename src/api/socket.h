// One connection that became a WebSocket: carries the messages of a Talk.
//
// Everything runs on the connection's strand. Only the sources of the transport include it.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <memory>
#include <string>

#include "api/session.h"
#include "api/talk.h"

namespace pondage::api {

class Socket : public Line, public std::enable_shared_from_this<Socket> {
 public:
  using Tls = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;
  using Upgrade = boost::beast::http::request<boost::beast::http::string_body>;

  // `keeps` lives as long: what the stream stands on.
  Socket(Tls stream, std::shared_ptr<Talk> talk, SessionHost& host, std::shared_ptr<void> keeps);
  ~Socket() override;

  void Accept(Upgrade request, const std::string& protocol);

  void Send(std::string message) override;
  void ReadOn() override;
  void HangUp() override;

  // Ends all of them, and comes back when they are gone; the threads of the transport must run.
  static void DropAll(SessionHost& host);

 private:
  using Error = boost::system::error_code;
  void Begin();
  void PingLater();
  void DropWithin(base::Millis limit);
  void Drop();

  const std::shared_ptr<void> keeps_;
  SessionHost& host_;
  boost::beast::websocket::stream<Tls> stream_;
  boost::asio::steady_timer ping_;
  boost::asio::steady_timer deadline_;
  Upgrade request_;
  std::string out_;
  std::array<char, 32 << 10> piece_;
  bool first_ = true;  // the next piece begins a message
  bool dropped_ = false;
  std::shared_ptr<Talk> talk_;
};

}  // namespace pondage::api
