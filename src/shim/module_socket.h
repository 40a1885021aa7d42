// The datagram socket on which the job's own module reports its progress.
//
// One thread, never blocks. Only the job's account can write to it; malformed messages are ignored.
#pragma once

#include <optional>
#include <string>

#include "shim/wire.h"

namespace pondage::shim {

class ModuleSocket {
 public:
  // A socket that cannot be made is no reason not to train: then nothing is ever said.
  ModuleSocket(std::string path, std::optional<std::int64_t> owner);
  ~ModuleSocket();
  ModuleSocket(const ModuleSocket&) = delete;
  ModuleSocket& operator=(const ModuleSocket&) = delete;

  int socket() const { return socket_; }
  // Takes a bounded number of waiting messages. True when `said` changed.
  bool Take(Said& said);

 private:
  std::string path_;
  int socket_ = -1;
};

}  // namespace pondage::shim
