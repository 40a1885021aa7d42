// Further programs inside running replicas, asked of the replicas' shims.
//
// Thread rule: port::Exec's; what begins with On, and End(), on the reactor's thread or when it has
// stopped. `done` is called on the reactor's thread, or by End(). A handle may outlive this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "port/exec.h"
#include "run/reactor.h"
#include "run/shim_sockets.h"

namespace pondage::run {

class ShimExec : public port::Exec {
 public:
  // The connection of the shim of a replica, -1 while there is none. kNotFound: it does not run.
  // kUnavailable: its shim cannot.
  using ConnectionOf = std::function<base::Result<int>(const std::string& uid)>;

  ShimExec(Reactor& reactor, ShimSockets& sockets, ConnectionOf connection_of);
  ~ShimExec() override;

  std::unique_ptr<Handle> Start(port::ExecRequest request, Done done) override;

  void OnEnded(int connection, const std::vector<shim::ExecEnded>& ended);
  void OnClosed(int connection);
  // Tells all that wait that nothing will come. The reactor has stopped.
  void End();

 private:
  struct Call;
  class Held;
  struct Gate;

  void Try(std::int64_t id, std::int64_t until_ms);
  void Release(std::int64_t id);
  void Finish(std::int64_t id, base::Result<port::ExecExit> result);

  Reactor& reactor_;
  ShimSockets& sockets_;
  const ConnectionOf connection_of_;
  const std::shared_ptr<Gate> gate_;  // to this, for the handles

  std::map<std::int64_t, std::shared_ptr<Call>> calls_;  // on the reactor's thread
};

}  // namespace pondage::run
