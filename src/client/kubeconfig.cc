#include "client/kubeconfig.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>

#include "manifest/data.h"
#include "terminal/document.h"
#include "terminal/text.h"

namespace pondage::client {
namespace {

using base::Fail;
using base::Kind;
namespace json = boost::json;

std::string Trimmed(std::string text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, text.find_first_not_of(kSpace));
  return text;
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string Joined(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : folder + "/" + path;
}

std::optional<std::string> DecodeBase64(const std::string& text) {
  std::string packed;
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != ' ') packed += c;
  }
  if (packed.size() > (1U << 20)) return std::nullopt;
  return manifest::FromBase64(packed);
}

std::string Member(const YAML::Node& node, const std::string& name) {
  if (!node.IsMap()) return {};
  const YAML::Node found = node[name];
  return found && found.IsScalar() ? found.Scalar() : std::string();
}

// The entry called `name` in a list of {name, <kind>}.
YAML::Node Named(const YAML::Node& list, const std::string& name, const std::string& kind) {
  if (list.IsDefined() && list.IsSequence()) {
    for (const YAML::Node& entry : list) {
      if (Member(entry, "name") == name && entry[kind]) return entry[kind];
    }
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

struct Context {
  YAML::Node cluster, user;
  std::string cluster_name, space;
};

base::Result<Context> CurrentContext(std::string_view yaml) {
  const auto bad = [](std::string why) {
    return Fail(Kind::kInvalid, "PND-C003", "", "not a usable kubeconfig: " + std::move(why));
  };
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    if (!root.IsMap()) return bad("it is not a mapping");
    const std::string name = Member(root, "current-context");
    if (name.empty()) return bad("it has no current-context");
    const YAML::Node context = Named(root["contexts"], name, "context");
    if (!context.IsDefined() || !context.IsMap()) return bad("no context \"" + name + "\"");
    Context found;
    found.cluster_name = Member(context, "cluster");
    found.space = Member(context, "namespace");
    found.cluster = Named(root["clusters"], found.cluster_name, "cluster");
    found.user = Named(root["users"], Member(context, "user"), "user");
    if (!found.cluster.IsDefined() || !found.cluster.IsMap()) {
      return bad("no cluster \"" + found.cluster_name + "\"");
    }
    return found;
  } catch (const YAML::Exception& error) {
    return bad(error.what());
  }
}

// PEM text given in place (`NAME-data`) or as a file (`NAME`).
base::Result<std::string> PemOf(const YAML::Node& node, const std::string& name,
                                const std::string& folder, const ReadFile& read) {
  if (!node.IsDefined()) return std::string();
  if (const std::string data = Member(node, name + "-data"); !data.empty()) {
    auto pem = DecodeBase64(data);
    if (!pem) return Fail(Kind::kInvalid, "PND-C003", "", name + "-data is not base64");
    return *std::move(pem);
  }
  const std::string path = Member(node, name);
  if (path.empty()) return std::string();
  auto pem = read(Joined(folder, path));
  if (!pem) return Fail(Kind::kInvalid, "PND-C003", "", "cannot read " + Joined(folder, path));
  return *std::move(pem);
}

base::Result<ServerPlace> PlaceFromFile(const std::string& path, const std::string& origin,
                                        const ReadFile& read) {
  auto yaml = read(path);
  if (!yaml) {
    return Fail(Kind::kUnavailable, "PND-C003", "",
                fmt::format("cannot read the kubeconfig {}\nnamed by {}", path, origin));
  }
  auto place = ReadKubeconfig(*yaml, FolderOf(path), read);
  if (!place) {
    base::Error error = place.error();
    error.message += "\nfile " + path + ", named by " + origin;
    return std::unexpected(std::move(error));
  }
  place->origin = origin == path ? path : origin + " -> " + path;
  return place;
}

}  // namespace

std::string ServerPlace::Url() const {
  const bool brackets = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", brackets ? "[" : "", host,
                     brackets ? "]" : "", port);
}

base::Result<ServerPlace> ParseServerUrl(std::string_view url) {
  const auto bad = [&] {
    return Fail(Kind::kInvalid, "PND-C002", "",
                fmt::format("\"{}\" is not a server address: use https://HOST:PORT", url));
  };
  ServerPlace place;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    place.tls = false;
  } else if (rest.find("://") != std::string_view::npos) {
    return bad();
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest.find_first_of("/?#@ ") != std::string_view::npos) return bad();
  place.port = place.tls ? "443" : "80";
  std::string_view port;
  if (rest.front() == '[') {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad();
    place.host = rest.substr(1, close - 1);
    port = rest.substr(close + 1);
  } else {
    const std::size_t colon = rest.find(':');
    place.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon);
  }
  if (!port.empty()) {
    if (port.size() < 2 || port.size() > 6 || port.front() != ':' ||
        port.find_first_not_of("0123456789", 1) != std::string_view::npos) {
      return bad();
    }
    place.port = port.substr(1);
  }
  if (place.host.empty()) return bad();
  return place;
}

std::optional<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return bytes;
}

base::Result<ServerPlace> ReadKubeconfig(std::string_view yaml, const std::string& folder,
                                         const ReadFile& read) {
  TRY(const Context context, CurrentContext(yaml));
  TRY(ServerPlace place, ParseServerUrl(Member(context.cluster, "server")));
  place.space = context.space;
  place.skip_verify = Member(context.cluster, "insecure-skip-tls-verify") == "true";
  TRY(place.ca_pem, PemOf(context.cluster, "certificate-authority", folder, read));
  TRY(place.client_cert_pem, PemOf(context.user, "client-certificate", folder, read));
  TRY(place.client_key_pem, PemOf(context.user, "client-key", folder, read));
  if (context.user.IsDefined()) {
    place.token = Member(context.user, "token");
    const std::string file = Member(context.user, "tokenFile");
    if (place.token.empty() && !file.empty()) {
      auto token = read(Joined(folder, file));
      if (!token) return Fail(Kind::kInvalid, "PND-C003", "", "cannot read " + file);
      place.token = Trimmed(*std::move(token));
    }
  }
  return place;
}

std::string KubeconfigText(const ServerPlace& place, const std::string& user,
                           const std::string& space, const std::string& token) {
  json::object cluster{{"server", place.Url()}};
  if (!place.ca_pem.empty())
    cluster["certificate-authority-data"] = manifest::ToBase64(place.ca_pem);
  const json::object context{{"cluster", "pondage"}, {"user", user}, {"namespace", space}};
  json::object config{{"apiVersion", "v1"}, {"kind", "Config"}};
  config["clusters"] = json::array{json::object{{"name", "pondage"}, {"cluster", cluster}}};
  config["users"] =
      json::array{json::object{{"name", user}, {"user", json::object{{"token", token}}}}};
  config["contexts"] = json::array{json::object{{"name", "pondage"}, {"context", context}}};
  config["current-context"] = "pondage";
  return terminal::ToYaml(config);
}

bool NamesPondage(std::string_view yaml) {
  auto context = CurrentContext(yaml);
  return context && context->cluster_name.starts_with("pondage");
}

std::string ConfigFolder(const terminal::Surroundings& around) {
  std::string base = around.Variable("XDG_CONFIG_HOME");
  if (base.empty()) base = around.Variable("HOME") + "/.config";
  return base + "/pondage";
}

base::Result<ServerPlace> FindServer(const WhereFlags& flags, const terminal::Surroundings& around,
                                     const ReadFile& read) {
  const std::string pointer = ConfigFolder(around) + "/server";
  const auto by_pointer = [&]() -> std::optional<std::string> {
    auto text = read(pointer);
    return text ? std::optional(Trimmed(*std::move(text))) : std::nullopt;
  };
  if (!flags.kubeconfig.empty()) {
    return PlaceFromFile(flags.kubeconfig, "--kubeconfig", read);
  }
  const std::string variable = around.Variable("PONDAGE_SERVER");
  const std::string url = flags.server.empty() ? variable : flags.server;
  if (!url.empty()) {
    TRY(ServerPlace place, ParseServerUrl(url));
    place.origin = flags.server.empty() ? "PONDAGE_SERVER" : "--server";
    place.token = around.Variable("PONDAGE_TOKEN");
    if (const std::string ca = around.Variable("PONDAGE_CA"); !ca.empty()) {
      auto pem = read(ca);
      if (!pem) return Fail(Kind::kInvalid, "PND-C003", "", "cannot read PONDAGE_CA " + ca);
      place.ca_pem = *std::move(pem);
    }
    // The server of this machine: what is not said comes from its kubeconfig.
    if (const auto path = by_pointer(); path && (place.token.empty() || place.ca_pem.empty())) {
      auto known = PlaceFromFile(*path, pointer, read);
      if (known && known->host == place.host && known->port == place.port) {
        if (place.token.empty()) place.token = known->token;
        if (place.ca_pem.empty()) place.ca_pem = known->ca_pem;
      }
    }
    return place;
  }
  const auto with_token = [&](base::Result<ServerPlace> place) {
    const std::string token = around.Variable("PONDAGE_TOKEN");
    if (place && !token.empty()) place->token = token;
    return place;
  };
  for (const std::string& path : terminal::Split(around.Variable("KUBECONFIG"), ':')) {
    if (path.empty()) continue;
    const auto yaml = read(path);
    if (yaml && NamesPondage(*yaml)) return with_token(PlaceFromFile(path, "KUBECONFIG", read));
  }
  if (const auto path = by_pointer(); path && !path->empty())
    return with_token(PlaceFromFile(*path, pointer, read));
  return Fail(Kind::kUnavailable, "PND-C001", "",
              fmt::format("no pondage server is known here\nlooked at --server, --kubeconfig, "
                          "PONDAGE_SERVER, KUBECONFIG and {}",
                          pointer));
}

}  // namespace pondage::client
