// Word to the service manager: systemd's notify protocol (sd_notify(3)), a datagram to the socket
// named by NOTIFY_SOCKET. Without that variable nothing happens.
//
// Any thread.
#pragma once

#include <string_view>

namespace pondage::cmd {

// "READY=1", "STOPPING=1", "STATUS=...".
void NotifyServiceManager(std::string_view state);

}  // namespace pondage::cmd
