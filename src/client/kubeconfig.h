// Where the server is and who asks: found from flags, environment, a kubeconfig or the pointer file
// that `pondage serve` leaves in the user's configuration.
//
// Pure but for the reading of the files it names. Order: --server and --kubeconfig, PONDAGE_SERVER
// with PONDAGE_TOKEN, KUBECONFIG when it names a pondage server, the pointer file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "terminal/screen.h"

namespace pondage::client {

struct ServerPlace {
  std::string host;  // name or address, without brackets
  std::string port;
  bool tls = true;
  std::string token;
  std::string ca_pem;  // empty: the system's
  std::string client_cert_pem;
  std::string client_key_pem;
  bool skip_verify = false;  // only when the kubeconfig says so
  std::string space;         // the context's namespace; may be empty
  std::string origin;        // how it was found: "--server", "/u/li/.config/pondage/server"

  std::string Url() const;
};

// "https://[::1]:6443" or "https://host": the address part of a place.
base::Result<ServerPlace> ParseServerUrl(std::string_view url);

using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;
std::optional<std::string> ReadWholeFile(const std::string& path);

// The current context of a kubeconfig. `folder`: what relative paths in it start from.
base::Result<ServerPlace> ReadKubeconfig(std::string_view yaml, const std::string& folder,
                                         const ReadFile& read);
// One that names this server, for one token.
std::string KubeconfigText(const ServerPlace& place, const std::string& user,
                           const std::string& space, const std::string& token);
// Whether its current context belongs to a pondage server (its cluster is called so).
bool NamesPondage(std::string_view yaml);

struct WhereFlags {
  std::string server;
  std::string kubeconfig;
};
base::Result<ServerPlace> FindServer(const WhereFlags& flags, const terminal::Surroundings& around,
                                     const ReadFile& read);

// $XDG_CONFIG_HOME/pondage, or ~/.config/pondage.
std::string ConfigFolder(const terminal::Surroundings& around);

}  // namespace pondage::client
