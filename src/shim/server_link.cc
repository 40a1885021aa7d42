#include "shim/server_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace pondage::shim {
namespace {

constexpr std::int64_t kFirstPauseMs = 50;
constexpr std::int64_t kLongestPauseMs = 1000;
constexpr int kLastWaitMs = 500;
constexpr int kCommandsPerTurn = 16;
// Of one message: one more than any has, so that too many are noticed. The kernel closes the rest.
constexpr std::size_t kDescriptors = 4;

// As recv(), with the descriptors that came along.
ssize_t ReceiveMessage(int socket, std::span<char> bytes, std::vector<int>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptors * sizeof(int))> control;
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < 0) return size;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    descriptors.resize((one->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(one), descriptors.size() * sizeof(int));
  }
  return size;
}

}  // namespace

ServerLink::ServerLink(std::string path, OnCommand on_command, OnDropped on_dropped)
    : path_(std::move(path)),
      on_command_(std::move(on_command)),
      on_dropped_(std::move(on_dropped)),
      pause_ms_(kFirstPauseMs) {}

ServerLink::~ServerLink() {
  if (socket_ >= 0) close(socket_);
}

void ServerLink::Update(std::string state) {
  if (state == state_) return;
  state_ = std::move(state);
  unsent_ = true;
}

void ServerLink::Turn(std::int64_t now_ms) {
  if (socket_ < 0 && now_ms >= retry_at_ms_) Connect(now_ms);
  if (socket_ >= 0) Receive(now_ms);
  if (socket_ >= 0 && unsent_) Send(now_ms);
}

void ServerLink::SendLast(std::string state) {
  state_ = std::move(state);
  unsent_ = true;
  if (socket_ < 0) Connect(0);
  for (int attempt = 0; attempt < 2 && socket_ >= 0 && unsent_; ++attempt) {
    Send(0);
    pollfd writable{socket_, POLLOUT, 0};
    if (unsent_ && socket_ >= 0) poll(&writable, 1, kLastWaitMs);
  }
}

void ServerLink::Connect(std::int64_t now_ms) {
  retry_at_ms_ = now_ms + pause_ms_;
  pause_ms_ = std::min(pause_ms_ * 2, kLongestPauseMs);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.empty() || path_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  const int fresh = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fresh < 0) return;
  if (connect(fresh, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(fresh);
    return;
  }
  socket_ = fresh;
  unsent_ = true;
}

void ServerLink::Receive(std::int64_t now_ms) {
  std::array<char, kMessageLimit> message;
  for (int i = 0; i < kCommandsPerTurn; ++i) {
    std::vector<int> descriptors;
    const ssize_t size = ReceiveMessage(socket_, message, descriptors);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      Drop(now_ms);
      return;
    }
    pause_ms_ = kFirstPauseMs;
    const auto command = DecodeCommand({message.data(), static_cast<std::size_t>(size)});
    if (command) on_command_(*command, descriptors);
    for (const int descriptor : descriptors) close(descriptor);
  }
}

void ServerLink::Send(std::int64_t now_ms) {
  const ssize_t sent = send(socket_, state_.data(), state_.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(state_.size())) {
    unsent_ = false;
    pause_ms_ = kFirstPauseMs;
  } else if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
    Drop(now_ms);
  }
}

void ServerLink::Drop(std::int64_t now_ms) {
  close(socket_);
  socket_ = -1;
  retry_at_ms_ = now_ms + pause_ms_;
  on_dropped_();
}

}  // namespace pondage::shim
