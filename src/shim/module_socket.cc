#include "shim/module_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace pondage::shim {
namespace {

constexpr int kMessagesPerTurn = 64;

}  // namespace

ModuleSocket::ModuleSocket(std::string path, std::optional<std::int64_t> owner)
    : path_(std::move(path)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.empty() || path_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  unlink(path_.c_str());
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  const mode_t before = umask(0177);
  const bool bound =
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  umask(before);
  const bool given = !owner || chown(path_.c_str(), static_cast<uid_t>(*owner), gid_t(-1)) == 0;
  if (bound && given) return;
  close(socket_);
  socket_ = -1;
}

ModuleSocket::~ModuleSocket() {
  if (socket_ < 0) return;
  close(socket_);
  unlink(path_.c_str());
}

bool ModuleSocket::Take(Said& said) {
  const Said before = said;
  std::array<char, kModuleMessageLimit + 1> message;
  for (int i = 0; socket_ >= 0 && i < kMessagesPerTurn; ++i) {
    const ssize_t size = recv(socket_, message.data(), message.size(), 0);
    if (size < 0) break;
    TakeModuleMessage({message.data(), static_cast<std::size_t>(size)}, said);
  }
  return said != before;
}

}  // namespace pondage::shim
