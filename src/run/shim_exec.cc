#include "run/shim_exec.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "shim/descriptor.h"

namespace pondage::run {
namespace {

constexpr std::int64_t kRetryMs = 10;
constexpr std::int64_t kPatienceMs = 5000;  // for a shim that connects again, or does not read

base::Error Trouble(base::Kind kind, const std::string& uid, const std::string& why) {
  return {kind, "", uid, why};
}

}  // namespace

struct ShimExec::Call {
  std::int64_t id = 0;
  std::string uid;
  shim::Exec exec;
  std::array<shim::Descriptor, 3> streams;
  int connection = -1;  // it was sent there

  // Recursive, since `done` may let its own handle go.
  std::recursive_mutex mutex;
  Done done;  // null: told, or nobody wants to know
};

struct ShimExec::Gate {
  std::mutex mutex;
  ShimExec* exec = nullptr;  // null: gone
  std::atomic<std::int64_t> next_id = 1;
};

class ShimExec::Held : public port::Exec::Handle {
 public:
  Held(std::shared_ptr<Gate> gate, std::shared_ptr<Call> call)
      : gate_(std::move(gate)), call_(std::move(call)) {}
  ~Held() override {
    {
      const std::lock_guard lock(call_->mutex);
      call_->done = nullptr;
    }
    const std::lock_guard lock(gate_->mutex);
    if (ShimExec* const exec = gate_->exec) {
      exec->reactor_.Post([exec, id = call_->id] { exec->Release(id); });
    }
  }

 private:
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<Call> call_;
};

ShimExec::ShimExec(Reactor& reactor, ShimSockets& sockets, ConnectionOf connection_of)
    : reactor_(reactor),
      sockets_(sockets),
      connection_of_(std::move(connection_of)),
      gate_(std::make_shared<Gate>()) {
  gate_->exec = this;
}

ShimExec::~ShimExec() {
  End();
}

std::unique_ptr<port::Exec::Handle> ShimExec::Start(port::ExecRequest request, Done done) {
  auto call = std::make_shared<Call>();
  call->id = gate_->next_id++;
  call->uid = std::move(request.uid);
  call->exec = {call->id, std::move(request.argv), request.terminal};
  const std::array given{request.in, request.out, request.err};
  for (std::size_t i = 0; i < given.size(); ++i) {
    call->streams[i] =
        shim::Descriptor(given[i] >= 0 ? given[i] : open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  call->done = std::move(done);
  auto handle = std::make_unique<Held>(gate_, call);
  reactor_.Post([this, call = std::move(call)] {
    calls_[call->id] = call;
    Try(call->id, BoottimeMs() + kPatienceMs);
  });
  return handle;
}

void ShimExec::Try(std::int64_t id, std::int64_t until_ms) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  Call& call = *found->second;
  shim::Command command;
  command.exec = call.exec;
  if (call.exec.argv.empty() || shim::Encode(command).size() > shim::kMessageLimit) {
    return Finish(id, std::unexpected(Trouble(base::Kind::kInvalid, call.uid,
                                              "the command is empty or too long")));
  }
  const auto connection = connection_of_(call.uid);
  if (!connection) return Finish(id, std::unexpected(connection.error()));
  const std::array streams{call.streams[0].get(), call.streams[1].get(), call.streams[2].get()};
  if (*connection >= 0 && sockets_.Send(*connection, command, streams)) {
    call.connection = *connection;
    for (shim::Descriptor& stream : call.streams) stream = shim::Descriptor();
    return;
  }
  if (BoottimeMs() >= until_ms) {
    return Finish(id, std::unexpected(
                          Trouble(base::Kind::kUnavailable, call.uid, "its shim does not answer")));
  }
  reactor_.After(kRetryMs, [this, id, until_ms] { Try(id, until_ms); });
}

void ShimExec::Release(std::int64_t id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const int connection = found->second->connection;
  if (connection >= 0) {
    shim::Command command;
    command.release = id;
    if (!sockets_.Send(connection, command)) {
      reactor_.After(kRetryMs, [this, id] { Release(id); });
      return;
    }
  }
  calls_.erase(found);
}

void ShimExec::OnEnded(int connection, const std::vector<shim::ExecEnded>& ended) {
  for (const shim::ExecEnded& one : ended) {
    const auto found = calls_.find(one.id);
    if (found == calls_.end() || found->second->connection != connection) continue;
    const std::shared_ptr<Call> call = found->second;
    Finish(one.id, port::ExecExit{static_cast<int>(one.code), one.message});
  }
}

void ShimExec::OnClosed(int connection) {
  std::vector<std::int64_t> ids;
  for (const auto& [id, call] : calls_) {
    if (call->connection == connection) ids.push_back(id);
  }
  for (const std::int64_t id : ids) {
    calls_[id]->connection = -1;
    Finish(id, std::unexpected(Trouble(base::Kind::kUnavailable, calls_[id]->uid,
                                       "the replica ended, or its shim's connection was lost")));
  }
}

void ShimExec::Finish(std::int64_t id, base::Result<port::ExecExit> result) {
  const std::shared_ptr<Call> call = calls_.at(id);
  for (shim::Descriptor& stream : call->streams) stream = shim::Descriptor();
  Release(id);
  const std::lock_guard lock(call->mutex);
  if (Done done = std::exchange(call->done, nullptr)) done(std::move(result));
}

void ShimExec::End() {
  {
    const std::lock_guard lock(gate_->mutex);
    gate_->exec = nullptr;
  }
  while (!calls_.empty()) {
    const std::int64_t id = calls_.begin()->first;
    calls_.begin()->second->connection = -1;
    Finish(id, std::unexpected(Trouble(base::Kind::kUnavailable, calls_.begin()->second->uid,
                                       "the server is ending")));
  }
}

}  // namespace pondage::run
