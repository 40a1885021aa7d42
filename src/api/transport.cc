#include "api/transport.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "api/session.h"
#include "api/socket.h"

namespace pondage::api {

namespace asio = boost::asio;
using base::Fail;
using base::Kind;
using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::seconds kFarewell{5};

// Takes http/1.1 out of what the client offers; without it the client picks its own default.
int SelectProtocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
                   const unsigned char* in, unsigned int in_length, void* /*unused*/) {
  static const unsigned char kOurs[] = "\x08http/1.1";
  const int picked = SSL_select_next_proto(const_cast<unsigned char**>(out), out_length, kOurs,
                                           sizeof(kOurs) - 1, in, in_length);
  return picked == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

base::Result<std::shared_ptr<asio::ssl::context>> MakeTls(const std::string& certificate_pem,
                                                          const std::string& key_pem) {
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  boost::system::error_code error;
  tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, error);
  // Of a thousand connections nearly all are idle.
  SSL_CTX_set_mode(tls->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(tls->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(tls->native_handle(), SelectProtocol, nullptr);
  tls->use_certificate_chain(asio::buffer(certificate_pem), error);
  if (!error) tls->use_private_key(asio::buffer(key_pem), asio::ssl::context::pem, error);
  if (error) return Fail(Kind::kInvalid, "PND-A020", "certificate", error.message());
  return tls;
}

}  // namespace

class Transport::Impl {
 public:
  Impl(TransportOptions options, Handler handler)
      : host_{.options = std::move(options), .handler = Refusing(std::move(handler))},
        io_(host_.options.threads),
        acceptor_(io_),
        retry_(io_) {}

  base::Result<void> Open() {
    TRY_DO(SetCertificate(host_.options.certificate_pem, host_.options.key_pem));
    boost::system::error_code error;
    Listener& listener = host_.options.listener;
    port_ = listener.port();
    acceptor_.assign(listener.is_v6() ? tcp::v6() : tcp::v4(), listener.Release(), error);
    if (error) return Fail(Kind::kUnavailable, "PND-A022", "", error.message());
    Accept();
    try {
      for (int i = 0; i < host_.options.threads; ++i) threads_.emplace_back([this] { io_.run(); });
    } catch (const std::system_error& none) {
      Close();
      return Fail(Kind::kUnavailable, "PND-A022", "",
                  std::string("no thread can be had to answer on: ") + none.what());
    }
    return {};
  }

  // Waits for the answers that are under way: they come from the writer, which must still run. Then
  // for a while until clients have taken them: what was done and not told would be done again.
  void Close() {
    closing_ = true;
    asio::post(io_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
    });
    const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    while (host_.in_flight > 0) wait();
    const auto until = std::chrono::steady_clock::now() + kFarewell;
    while (host_.unsent > 0 && std::chrono::steady_clock::now() < until) wait();
    Socket::DropAll(host_);
    io_.stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  base::Result<void> SetCertificate(const std::string& certificate, const std::string& key) {
    TRY(auto tls, MakeTls(certificate, key));
    const std::lock_guard lock(mutex_);
    tls_ = std::move(tls);
    return {};
  }

  std::uint16_t port() const { return port_; }
  std::size_t ended() const { return host_.ended; }
  void Post(std::function<void()> task) { asio::post(io_, std::move(task)); }

 private:
  void Accept() {
    acceptor_.async_accept(asio::make_strand(io_),
                           [this](boost::system::error_code error, tcp::socket socket) {
                             OnAccept(error, std::move(socket));
                           });
  }

  void OnAccept(boost::system::error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) {  // out of descriptors: those that end make room
      spdlog::warn("a connection could not be accepted: {}", error.message());
      retry_.expires_after(std::chrono::milliseconds(100));
      retry_.async_wait([this](boost::system::error_code stopped) {
        if (!stopped) Accept();
      });
      return;
    }
    if (host_.open < host_.options.max_connections) Begin(std::move(socket));
    Accept();
  }

  void Begin(tcp::socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    std::shared_ptr<asio::ssl::context> tls;
    {
      const std::lock_guard lock(mutex_);
      tls = tls_;
    }
    std::make_shared<Session>(std::move(socket), std::move(tls), host_)->Start();
  }

  Handler Refusing(Handler handler) {
    return [this, handler = std::move(handler)](Request request, Reply reply) {
      if (!closing_) return handler(std::move(request), std::move(reply));
      Response response;
      response.status = 503;
      response.content_type = "text/plain";
      response.body = "the server is stopping\n";
      reply(std::move(response));
    };
  }

  std::atomic<bool> closing_{false};
  SessionHost host_;
  std::mutex mutex_;
  std::shared_ptr<asio::ssl::context> tls_;
  std::uint16_t port_ = 0;
  asio::io_context io_;  // destroyed before what the sessions in it refer to
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  std::vector<std::thread> threads_;
};

Transport::Transport() = default;
Transport::~Transport() {
  Stop();
}

base::Result<void> Transport::Start(TransportOptions options, Handler handler) {
  REQUIRE(!impl_);
  // In its place before a thread of its own can look for it: the first request may post.
  impl_ = std::make_unique<Impl>(std::move(options), std::move(handler));
  auto opened = impl_->Open();
  if (!opened) impl_.reset();
  return opened;
}

void Transport::Stop() {
  if (!impl_) return;
  impl_->Close();
  impl_.reset();
}

std::uint16_t Transport::port() const {
  return impl_ ? impl_->port() : 0;
}

std::size_t Transport::ended() const {
  return impl_ ? impl_->ended() : 0;
}

void Transport::Post(std::function<void()> task) {
  if (impl_) impl_->Post(std::move(task));
}

base::Result<void> Transport::SetCertificate(const std::string& certificate_pem,
                                             const std::string& key_pem) {
  REQUIRE(impl_);
  return impl_->SetCertificate(certificate_pem, key_pem);
}

}  // namespace pondage::api
