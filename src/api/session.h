// One TLS connection of the transport: reads requests one after the other, writes answers.
//
// Everything runs on the session's strand. Only the sources of the transport include it.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "api/transport.h"

namespace pondage::api {

class Socket;

std::string HttpDate();  // now, as the header has it

// What the sessions of one transport share. It outlives them.
struct SessionHost {
  TransportOptions options;
  Handler handler;
  std::atomic<std::uint64_t> large_bodies{0};  // bytes of those that come in or are worked on
  std::mutex sockets_mutex;
  bool closing = false;                   // no socket begins any more
  std::set<Socket*> sockets;              // those that live; each takes itself out in the end
  std::atomic<std::size_t> open{0};       // sessions
  std::atomic<std::size_t> ended{0};      // sessions
  std::atomic<std::size_t> in_flight{0};  // requests whose answer is still to come
  std::atomic<std::size_t> unsent{0};     // whole answers on their way to the client
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> tls,
          SessionHost& host);
  ~Session();

  void Start();

 private:
  using Error = boost::system::error_code;
  class Pending;
  class Counted;

  void ReadHeader();
  void OnHeader(Error error);
  bool TakeRoom();
  void LeaveRoom();
  void ReadBody();
  void OnBody(Error error);
  void Refuse(Error error);
  void Answer(Response response, bool head_only);
  void BecomeSocket(Response response);
  void Write(std::function<void()> then);
  void Pump();
  void FinishStream();
  void Drain();
  void NoticeHangUp();
  void Finish();
  void Arm(base::Millis limit);
  void Drop();

  std::shared_ptr<boost::asio::ssl::context> tls_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  SessionHost& host_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer wake_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::unique_ptr<Stream> body_;
  std::string out_;
  std::string piece_;
  std::uint64_t room_ = 0;  // taken of large_bodies
  char spare_ = 0;
  bool keep_alive_ = true;
  bool chunked_ = true;
  bool writing_ = false;
  bool drain_ = false;
  bool draining_ = false;
  bool dropped_ = false;
};

}  // namespace pondage::api
