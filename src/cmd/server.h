// The embedded pool: one process with store, loop, runner, agent and API, wired together.
//
// Start(), Stop() and Join() from one thread. Stopping leaves the replicas running; the next server
// on the same data directory adopts them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace pondage::cmd {

struct ServeSettings {
  std::string data_dir;
  std::string address = "127.0.0.1";
  int port = 6443;                  // 0: any
  std::string advertise;            // "HOST[:PORT]" for kubeconfigs of others; empty: found out
  std::string virtual_gpus;         // "N[:TYPE[:MEMORY]]"; empty: NVML
  std::vector<std::string> mounts;  // "SRC:PATH[:ro]", for every replica
  std::string run_as;               // account of replicas; empty: this process's
  base::Millis restart_delay{10'000};
  std::optional<base::Millis> keep_finished;
  std::optional<std::int64_t> keep_finished_count;
  std::string python_dir;  // the `pondage` module, on PYTHONPATH of each job
  std::string shim;        // pondage-shim
};

class Server {
 public:
  // `step`: called with each numbered step ("store", "GPUs", ...) as it begins.
  using Step = std::function<void(int number, int of, const std::string& what)>;
  static base::Result<std::unique_ptr<Server>> Start(const ServeSettings& settings,
                                                     const Step& step);
  ~Server();  // stops

  std::string url() const;
  std::string kubeconfig() const;             // its path
  std::vector<std::string> warnings() const;  // what the user should know, one sentence each

 private:
  class Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace pondage::cmd
