// One request as the rest of the API sees it: no socket, no TLS, nothing of Beast.
//
// Values; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pondage::api {

// Who asks: found by authentication, judged by authorization (auth.h).
struct Identity {
  std::string name;
  bool admin = false;
  std::vector<std::string> namespaces;  // of a limited one; "*": all
  std::vector<std::string> verbs;       // of a limited one; empty: all
};

// The decoded query. A name may stand in it more than once.
class Query {
 public:
  Query() = default;
  // None: not a query (a broken percent escape).
  static std::optional<Query> Parse(std::string_view encoded);

  bool Has(std::string_view name) const;
  std::string Get(std::string_view name) const;  // the first; empty when absent
  std::vector<std::string> All(std::string_view name) const;
  // False only when absent, "0" or "false" (any case), as clients of Kubernetes expect.
  bool Flag(std::string_view name) const;
  void Set(std::string name, std::string value);

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct Request {
  std::string method;  // upper case
  std::string path;    // decoded, begins with '/', no trailing one
  Query query;
  std::string accept;
  std::string content_type;  // without parameters, lower case
  std::string authorization;
  std::string user_agent;
  std::string upgrade;                 // what the connection may become: "websocket"; mostly empty
  std::vector<std::string> protocols;  // offered for a WebSocket, the best first
  std::string body;
  Identity identity;
};

// A request from what the wire said. None: the target is not a path with a query.
std::optional<Request> MakeRequest(std::string_view method, std::string_view target);

}  // namespace pondage::api
