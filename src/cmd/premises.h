// What `serve` can find out before it touches its data directory: that nobody else's files lie in
// it, that its address is free, and that what its flags name is there. A start that is refused by
// it leaves nothing behind.
//
// A value, made once at the start.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/account.h"
#include "api/listener.h"
#include "base/result.h"
#include "cmd/server.h"
#include "port/gpu_probe.h"
#include "port/runner.h"

namespace pondage::cmd {

struct Premises {
  api::Listener listener;
  std::string url;
  std::string url_for_others;  // empty: no other machine reaches it
  std::string advertised;      // the host in it
  std::vector<port::Mount> mounts;
  std::optional<agent::Account> run_as;
  std::unique_ptr<port::GpuProbe> declared_gpus;  // null: none are declared
};

// Where the flags leave the port open, the one that the last server on this directory had comes
// first: a kubeconfig stays good.
base::Result<Premises> FindPremises(const ServeSettings& settings);

// 0 to 65535, in decimal digits alone.
std::optional<int> ParsePort(const std::string& text);

// Whether only this machine can reach what listens there.
bool IsLoopback(const std::string& address);

// What this machine calls itself.
std::string NodeName();

// The names and addresses that the certificate must hold, next to loopback's: with all addresses
// listened on, those that this machine has now.
std::vector<std::string> NamesOf(const Premises& premises, const ServeSettings& settings);

// The file that tells it.
std::string AddressFile(const std::string& data_dir);

}  // namespace pondage::cmd
