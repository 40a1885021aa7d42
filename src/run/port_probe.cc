#include "run/port_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "shim/descriptor.h"

namespace pondage::run {
namespace {

bool IsTaken(int port) {
  if (port <= 0 || port > 65'535) return true;
  const shim::Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return !listener ||
         bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
         listen(listener.get(), 1) != 0;
}

}  // namespace

std::vector<int> PortsTaken(const std::vector<int>& ports) {
  std::vector<int> taken;
  for (const int port : ports) {
    if (IsTaken(port)) taken.push_back(port);
  }
  return taken;
}

}  // namespace pondage::run
