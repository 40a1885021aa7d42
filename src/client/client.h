// A synchronous client of one pondage server: HTTPS, JSON, and streams of lines.
//
// One object, one thread; Fork makes another for another thread. The connection is kept between
// calls and made again when the server closed it. Errors carry the server's own message. A server
// that is not reached is kUnavailable with PND-C001, one that does not answer in time PND-C006;
// what changes something is never sent twice, and PND-C023 when the connection broke before its
// answer: under the last two it may have been done.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "client/json.h"
#include "client/kubeconfig.h"

namespace pondage::client {

struct Reply {
  int status = 0;
  std::string body;
  std::vector<std::string> warnings;  // of `Warning: 299` headers
};

struct Request {
  std::string method = "GET";
  std::string target;  // path and query, percent-encoded
  std::string body;
  std::string content_type = "application/json";
  std::string accept = "application/json";
};

class Client {
 public:
  Client(ServerPlace place, std::chrono::milliseconds timeout);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Told of each request once it was answered (or was not: status 0), also of forks, each on its
  // own thread.
  using OnAnswer = std::function<void(const std::string& method, const std::string& target,
                                      int status, std::chrono::milliseconds took)>;
  void Tell(OnAnswer on_answer) { on_answer_ = std::move(on_answer); }

  const ServerPlace& place() const { return place_; }
  std::unique_ptr<Client> Fork() const;

  // The answer whatever its status.
  base::Result<Reply> Send(const Request& request);

  // The answer's JSON; a status of 400 and above is an error.
  base::Result<json::value> Get(const std::string& target);
  base::Result<json::value> Post(const std::string& target, const json::value& body);
  base::Result<json::value> MergePatch(const std::string& target, const json::value& body);
  base::Result<json::value> Delete(const std::string& target, const json::value& options = {});

  // Hands out the lines of a chunked answer as they come, until the server ends it, `on_line` says
  // false, or `stop` is asked for (both are success). A last line without line end is handed out,
  // too, with `whole` false.
  using OnLine = std::function<bool(std::string_view line, bool whole)>;
  base::Result<void> Lines(const std::string& target, const OnLine& on_line, std::stop_token stop);
  // Called first with nothing, when the answer begins: its headers are there then.
  using OnBytes = std::function<bool(std::string_view bytes)>;
  base::Result<void> Bytes(const std::string& target, const OnBytes& on_bytes,
                           std::stop_token stop);

  // Of the last answer, and within `on_bytes` of the present one: a header, "" when it has none.
  std::string Header(std::string_view name) const;
  // Of the last answer: its Date, and the certificate (DER) of the connection.
  std::optional<base::Instant> ServerTime() const { return server_time_; }
  std::optional<std::string> ServerCertificate() const { return certificate_; }

  // Warnings of the server since the last call.
  std::vector<std::string> TakeWarnings();

 private:
  struct Wire;

  base::Result<json::value> Exchange(const Request& request);
  base::Result<Reply> Ask(const Request& request);

  ServerPlace place_;
  std::chrono::milliseconds timeout_;
  OnAnswer on_answer_;
  std::unique_ptr<Wire> wire_;
  std::vector<std::string> warnings_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::optional<base::Instant> server_time_;
  std::optional<std::string> certificate_;
};

// No connection, or one that broke.
base::Error NotReached(const ServerPlace& place, const std::string& why);

// The error behind an answer with status 400 and above.
base::Error ErrorOf(int status, std::string_view body, std::string_view target);

// `text` for use inside a path segment or a query value.
std::string PercentEncode(std::string_view text);

}  // namespace pondage::client
