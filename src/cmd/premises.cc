#include "cmd/premises.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "agent/volumes.h"
#include "api/private_file.h"
#include "run/virtual_probe.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

// "SRC:PATH" or "SRC:PATH:ro".
base::Result<port::Mount> ParseMount(const std::string& text) {
  const auto colon = text.find(':');
  std::string target = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool read_only = target.ends_with(":ro");
  if (read_only) target.resize(target.size() - 3);
  std::error_code error;
  const fs::path source = fs::absolute(text.substr(0, colon), error);
  const bool absolute = target.starts_with('/') && fs::path(target).lexically_normal() == target;
  if (error || !absolute || target == "/") {
    return base::Fail(base::Kind::kInvalid, "PND-C002", "--mount " + text,
                      "takes SRC:PATH[:ro]; PATH is absolute, without '..'");
  }
  if (!fs::exists(source, error)) {
    return base::Fail(base::Kind::kInvalid, "PND-C002", "--mount " + text,
                      source.string() + " does not exist");
  }
  return port::Mount{source.string(), target, read_only};
}

// Of the server before this one; 0: none is known.
std::uint16_t LastPort(const std::string& data_dir) {
  const auto url = api::ReadFile(AddressFile(data_dir));
  if (!url) return 0;
  const char* const begin = url->data() + url->rfind(':') + 1;  // npos + 1 is 0
  std::uint16_t port = 0;
  std::from_chars(begin, url->data() + url->size(), port);
  return port;
}

base::Result<api::Listener> Listen(const ServeSettings& settings) {
  const auto wanted = static_cast<std::uint16_t>(settings.port);
  if (wanted == 0) {
    if (const std::uint16_t last = LastPort(settings.data_dir); last != 0) {
      if (auto listener = api::Listener::On(settings.address, last)) return listener;
    }
  }
  return api::Listener::On(settings.address, wanted);
}

// A directory with other people's files is not taken: whoever tidies it up would tidy up the pool.
base::Result<void> IsForAPool(const std::string& data_dir) {
  std::error_code error;
  std::string other;
  for (fs::directory_iterator entry(data_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "pondage.sqlite" || name == "pki" || name == "address" || name == "environments")
      return {};
    if (name != "lost+found" && !name.starts_with('.')) other = name;
  }
  if (other.empty()) return {};  // what cannot be read, its first use says
  return base::Fail(base::Kind::kInvalid, "PND-C002", "--data " + data_dir,
                    fmt::format("holds other files ({}) and no pool: name a new or an empty "
                                "directory",
                                other));
}

bool IsAny(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}

std::string UrlOf(const std::string& host, const std::string& port) {
  return fmt::format(fmt::runtime(host.contains(':') ? "https://[{}]:{}" : "https://{}:{}"), host,
                     port);
}

bool IsHost(const std::string& text) {
  in6_addr address;
  if (text.contains(':')) return inet_pton(AF_INET6, text.c_str(), &address) == 1;
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, fits);
}

// By what others find the server: what the flag says, else where it listens; of all addresses, the
// machine's name.
base::Result<void> Advertise(const ServeSettings& settings, Premises& found) {
  std::string host = settings.advertise;
  std::string port = std::to_string(found.listener.port());
  if (host.empty()) {
    if (IsLoopback(settings.address)) return {};
    host = IsAny(settings.address) ? NodeName() : settings.address;
  } else {
    const auto colon = host.rfind(':');
    if (colon != std::string::npos && (host.find(':') == colon || host[colon - 1] == ']')) {
      port = host.substr(colon + 1);
      host.resize(colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (!IsHost(host) || ParsePort(port).value_or(0) == 0) {
      return base::Fail(base::Kind::kInvalid, "PND-C002", "--advertise " + settings.advertise,
                        "takes HOST or HOST:PORT, a name or an address of this machine");
    }
  }
  found.url_for_others = UrlOf(host, port);
  found.advertised = std::move(host);
  return {};
}

// Of interfaces that are up; not those that hold on one link only.
std::vector<std::string> AddressesOfMachine() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(list, freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (one->ifa_addr->sa_family == AF_INET) {
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text,
                sizeof text);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&address)) inet_ntop(AF_INET6, &address, text, sizeof text);
    }
    if (text[0] != '\0') addresses.emplace_back(text);
  }
  return addresses;
}

}  // namespace

std::optional<int> ParsePort(const std::string& text) {
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const int port = std::stoi(text);
  return port <= 65'535 ? std::optional(port) : std::nullopt;
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

std::string NodeName() {
  utsname machine{};
  uname(&machine);
  std::string name = machine.nodename;
  for (char& letter : name)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name.empty() ? "localhost" : name;
}

std::vector<std::string> NamesOf(const Premises& premises, const ServeSettings& settings) {
  std::vector<std::string> names = {settings.address, NodeName()};
  if (!premises.advertised.empty()) names.push_back(premises.advertised);
  if (IsAny(settings.address)) {
    for (std::string& address : AddressesOfMachine()) names.push_back(std::move(address));
  }
  return names;
}

std::string AddressFile(const std::string& data_dir) {
  return data_dir + "/address";
}

base::Result<Premises> FindPremises(const ServeSettings& settings) {
  TRY_DO(IsForAPool(settings.data_dir));
  TRY(api::Listener listener, Listen(settings));
  Premises found{.listener = std::move(listener),
                 .url = "",
                 .url_for_others = "",
                 .advertised = "",
                 .mounts = {},
                 .run_as = {},
                 .declared_gpus = nullptr};
  found.url = UrlOf(IsAny(settings.address) ? "127.0.0.1" : settings.address,
                    std::to_string(found.listener.port()));
  TRY_DO(Advertise(settings, found));
  for (const std::string& text : settings.mounts) {
    TRY(port::Mount mount, ParseMount(text));
    TRY_DO(agent::MayStandAt(mount.target, agent::DataDir(settings.data_dir)));
    found.mounts.push_back(std::move(mount));
  }
  if (!settings.run_as.empty()) {
    TRY(found.run_as, agent::AccountNamed(settings.run_as));
  }
  if (!settings.virtual_gpus.empty()) {
    auto declared = run::VirtualProbe::Declare(settings.virtual_gpus);
    if (!declared) {
      return base::Fail(base::Kind::kInvalid, "PND-C002", "--virtual-gpus " + settings.virtual_gpus,
                        declared.error().message);
    }
    found.declared_gpus = std::make_unique<run::VirtualProbe>(*std::move(declared));
  }
  return found;
}

}  // namespace pondage::cmd
