#include "shim/execs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "shim/killer.h"
#include "shim/program.h"

namespace pondage::shim {
namespace {

constexpr std::int64_t kHangUpGraceMs = 1000;
constexpr int kCannotCode = 126;
constexpr std::size_t kMessageBytes = 120;

}  // namespace

Execs::~Execs() {
  for (const Running& running : running_) close(running.report);
}

void Execs::Start(const Exec& exec, std::span<const int> streams, const std::string& refusal) {
  std::string why = refusal;
  if (running_.size() + ended_.size() >= kExecsAtOnce) why = "too many run in it at once";
  if (streams.size() != 3) why = "its input and output did not arrive";
  if (!why.empty()) {
    // Without a bound the state would no longer fit a message: that many are beyond any answer.
    if (ended_.size() < 2 * kExecsAtOnce) ended_.push_back({exec.id, kCannotCode, why});
    return;
  }
  spec_.argv = exec.argv;
  const Forked forked = ForkProgram(spec_, {streams[0], streams[1], streams[2], exec.terminal});
  if (forked.pid < 0) {
    ended_.push_back({exec.id, kCannotCode, std::string("cannot fork: ") + std::strerror(errno)});
    return;
  }
  running_.push_back({exec.id, forked.pid, forked.report, exec.argv.front(), std::nullopt});
}

void Execs::HangUp(Running& running, std::int64_t now_ms) {
  if (running.kill_at_ms) return;
  running.kill_at_ms = now_ms + kHangUpGraceMs;
  // It is not waited for yet, so its number is still its own.
  if (kill(-running.pid, SIGHUP) != 0) kill(running.pid, SIGHUP);
  kill(-running.pid, SIGCONT);
}

void Execs::Release(std::int64_t id, std::int64_t now_ms) {
  std::erase_if(ended_, [id](const ExecEnded& ended) { return ended.id == id; });
  for (Running& running : running_) {
    if (running.id == id) HangUp(running, now_ms);
  }
}

void Execs::ReleaseAll(std::int64_t now_ms) {
  ended_.clear();
  for (Running& running : running_) HangUp(running, now_ms);
}

void Execs::KillAll() {
  if (running_.empty()) return;
  std::set<pid_t> sessions;
  for (const Running& running : running_) {
    kill(running.pid, SIGKILL);  // it may not have its session yet
    sessions.insert(running.pid);
  }
  KillSessions(sessions);
}

bool Execs::TakeStatus(pid_t pid, int status) {
  const auto found = std::ranges::find(running_, pid, &Running::pid);
  if (found == running_.end()) return false;
  spec_.argv = {found->name};
  const auto failure = WhyNot(spec_, found->report);
  close(found->report);
  if (!found->kill_at_ms) {
    ExecEnded ended{found->id, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                    ""};
    if (WIFSIGNALED(status)) {
      ended.message = std::string("ended by signal ") + std::to_string(WTERMSIG(status)) + " (" +
                      strsignal(WTERMSIG(status)) + ")";
    }
    if (failure) {
      ended.code = failure->code == 128 ? kCannotCode : failure->code;
      ended.message = failure->message.substr(0, kMessageBytes);
    }
    ended_.push_back(std::move(ended));
  }
  running_.erase(found);
  return true;
}

void Execs::Turn(std::int64_t now_ms) {
  for (Running& running : running_) {
    if (!running.kill_at_ms || now_ms < *running.kill_at_ms) continue;
    running.kill_at_ms = now_ms + kHangUpGraceMs;  // again, should it be in the kernel's hands
    kill(running.pid, SIGKILL);
    KillSessions({running.pid});
  }
}

std::optional<std::int64_t> Execs::NextDue() const {
  std::optional<std::int64_t> due;
  for (const Running& running : running_) {
    if (running.kill_at_ms) due = std::min(due.value_or(*running.kill_at_ms), *running.kill_at_ms);
  }
  return due;
}

}  // namespace pondage::shim
