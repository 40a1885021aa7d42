#include "run/port_probe.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shim/descriptor.h"

namespace pondage::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What TensorFlow's server leaves: a listener on any free port.
struct Listener {
  Listener() : file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(file.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(file.get(), 1), 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(getsockname(file.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  }
  int port() const { return ntohs(address.sin_port); }

  sockaddr_in address{};
  shim::Descriptor file;
};

TEST(PortProbe, AListenerHoldsItsPort) {
  const Listener one;
  const Listener two;
  EXPECT_THAT(PortsTaken({one.port(), two.port()}), ElementsAre(one.port(), two.port()));
}

TEST(PortProbe, WhatIsNoPortIsTaken) {
  EXPECT_THAT(PortsTaken({0, -1, 65'536}), ElementsAre(0, -1, 65'536));
}

TEST(PortProbe, AConnectionThatLingersDoesNotHoldIt) {
  int port = 0;
  {
    const Listener listener;
    port = listener.port();
    const shim::Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&listener.address),
                      sizeof(listener.address)),
              0);
    shim::Descriptor served(accept(listener.file.get(), nullptr, nullptr));
    served = shim::Descriptor();  // the server's side closes first: it is the one that lingers
    char byte = 0;
    EXPECT_EQ(read(client.get(), &byte, 1), 0);
  }
  EXPECT_THAT(PortsTaken({port}), IsEmpty());
}

}  // namespace
}  // namespace pondage::run
