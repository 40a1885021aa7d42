#include "cmd/premises.h"

#include <fmt/format.h>

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
  if (error || !absolute || target == "/" || !fs::exists(source, error)) {
    return base::Fail(base::Kind::kInvalid, "PND-C002", text,
                      "--mount takes SRC:PATH, an existing directory and an absolute path "
                      "without '..'");
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

std::string UrlOf(const std::string& address, std::uint16_t port) {
  const bool any = address == "0.0.0.0" || address == "::";
  const std::string host = any ? "127.0.0.1" : address;
  return fmt::format(fmt::runtime(host.contains(':') ? "https://[{}]:{}" : "https://{}:{}"), host,
                     port);
}

}  // namespace

std::string AddressFile(const std::string& data_dir) {
  return data_dir + "/address";
}

base::Result<Premises> FindPremises(const ServeSettings& settings) {
  TRY_DO(IsForAPool(settings.data_dir));
  TRY(api::Listener listener, Listen(settings));
  Premises found{.listener = std::move(listener),
                 .url = "",
                 .mounts = {},
                 .run_as = {},
                 .declared_gpus = nullptr};
  found.url = UrlOf(settings.address, found.listener.port());
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
