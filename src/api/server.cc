#include "api/server.h"

#include "api/api.h"
#include "api/auth.h"
#include "api/transport.h"
#include "api/watchers.h"

namespace pondage::api {

class Server::Impl {
 public:
  explicit Impl(ServerOptions options)
      : options_(std::move(options)),
        watchers_(options_.store, [this](std::function<void()> task) { Post(std::move(task)); }),
        api_(World{.store = options_.store,
                   .writer = options_.writer,
                   .logs = options_.logs,
                   .telemetry = options_.telemetry,
                   .tokens = options_.tokens,
                   .now = options_.now,
                   .post = [this](std::function<void()> task) { Post(std::move(task)); },
                   .admit_new = options_.admit_new,
                   .admit_tfjob = options_.admit_tfjob,
                   .metrics = options_.metrics,
                   .own_view = options_.own_view,
                   .exec = options_.exec},
             watchers_) {}
  ~Impl() { Stop(); }

  base::Result<void> Start() {
    return transport_.Start({.listener = std::move(options_.listener),
                             .certificate_pem = options_.certificate_pem,
                             .key_pem = options_.key_pem,
                             .threads = options_.threads,
                             .max_connections = options_.max_connections,
                             .knows =
                                 [this](std::string_view authorization) {
                                   return Authenticate(authorization, options_.tokens).has_value();
                                 }},
                            [this](Request request, Reply reply) {
                              api_.Handle(std::move(request), std::move(reply));
                            });
  }

  // The taps first: behind them nobody posts to a transport that is gone.
  void Stop() {
    watchers_.Close();
    transport_.Stop();
  }

  const Transport& transport() const { return transport_; }
  Transport& transport() { return transport_; }
  const Watchers& watchers() const { return watchers_; }

 private:
  void Post(std::function<void()> task) { transport_.Post(std::move(task)); }

  ServerOptions options_;
  Watchers watchers_;
  Api api_;
  Transport transport_;
};

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;

base::Result<void> Server::Start() {
  return impl_->Start();
}
void Server::Stop() {
  impl_->Stop();
}
std::uint16_t Server::port() const {
  return impl_->transport().port();
}
std::size_t Server::ended() const {
  return impl_->transport().ended();
}
std::size_t Server::watchers() const {
  return impl_->watchers().count();
}

base::Result<void> Server::SetCertificate(const std::string& certificate_pem,
                                          const std::string& key_pem) {
  return impl_->transport().SetCertificate(certificate_pem, key_pem);
}

}  // namespace pondage::api
