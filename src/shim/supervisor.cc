#include "shim/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "shim/files.h"
#include "shim/program.h"

namespace pondage::shim {
namespace {

constexpr std::int64_t kNever = INT64_MAX;
constexpr std::int64_t kTellStepMs = 100;
constexpr std::int64_t kLongestRoundPauseMs = 500;
constexpr int kReadsPerTurn = 16;

std::int64_t Milliseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}
std::int64_t NowMs() {
  return Milliseconds(CLOCK_BOOTTIME);
}
std::int64_t UnixMs() {
  return Milliseconds(CLOCK_REALTIME);
}

std::int64_t CpuMs(const rusage& usage) {
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

int SignalDescriptor() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGCHLD, SIGTERM}) sigaddset(&mask, signal);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE}) std::signal(signal, SIG_IGN);
  return signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

}  // namespace

Supervisor::Supervisor(Spec spec, std::optional<StartFailure> why_not)
    : spec_(std::move(spec)),
      why_not_(std::move(why_not)),
      log_(std::to_string(spec_.start), spec_.log_cap_bytes),
      module_(spec_.module_socket, spec_.user),
      link_(
          spec_.agent_socket,
          [this](const Command& command, std::span<const int> descriptors) {
            Serve(command, descriptors);
          },
          [this] { execs_.ReleaseAll(NowMs()); }),
      killer_(spec_),
      execs_(spec_),
      signals_(SignalDescriptor()),
      oom_kills_before_(OomKills(spec_.oom_file)) {
  state_.uid = spec_.uid;
  state_.start = spec_.start;
  state_.shim_pid = getpid();
  state_.level = kExecLevel;
  ended_.uid = spec_.uid;
  ended_.start = spec_.start;
  ended_.boot_id = spec_.boot_id;
}

Supervisor::~Supervisor() {
  if (signals_ >= 0) close(signals_);
  if (output_ >= 0) close(output_);
}

bool Supervisor::Run() {
  Start();
  Tell();
  while (program_alive_ || children_) Wait();
  Drain();
  End();
  const bool written = KeepExit();
  state_.ended = ended_;
  link_.SendLast(Encode(state_));
  return written;
}

// On a full disk the exit waits for room: as long as the lock is held the replica counts as alive,
// and how it ended is not lost.
bool Supervisor::KeepExit() const {
  constexpr int kBetweenTriesMs = 500;
  while (!ReplaceFile("exit", Encode(ended_))) {
    if (errno != ENOSPC && errno != EDQUOT) return false;
    poll(nullptr, 0, kBetweenTriesMs);
  }
  return true;
}

void Supervisor::Start() {
  int pipe[2];
  started_boottime_ms_ = NowMs();
  StartedProgram started{0, StartFailure{128, "cannot make a pipe for its output"}};
  if (why_not_) {
    started.failure = why_not_;
  } else if (pipe2(pipe, O_CLOEXEC) == 0) {
    output_ = pipe[0];
    started = StartProgram(spec_, pipe[1]);
    close(pipe[1]);
    fcntl(output_, F_SETFL, O_NONBLOCK);
  }
  if (started.failure) {
    if (started.pid > 0) waitpid(started.pid, nullptr, 0);
    children_ = false;
    ended_.code = started.failure->code;
    ended_.reason = "StartFailed";
    ended_.message = started.failure->message;
    ended_.id = started.failure->id;
    ended_.at_unix_ms = UnixMs();
    ended_.at_boottime_ms = NowMs();
    return;
  }
  program_ = started.pid;
  program_alive_ = true;
  state_.pid = started.pid;
  state_.started_unix_ms = UnixMs();
  ended_.pid = state_.pid;
  ended_.started_unix_ms = state_.started_unix_ms;
}

void Supervisor::Obey(const Command& command) {
  const std::int64_t now = NowMs();
  if (command.kill) {
    want_ = Want::kDie;
    next_round_ms_ = now;
    return;
  }
  if (!command.stop_grace_ms || want_ == Want::kDie) return;
  const std::int64_t deadline = now + std::min(*command.stop_grace_ms, std::int64_t{1} << 40);
  if (want_ == Want::kLeave) {
    deadline_ms_ = std::min(deadline_ms_, deadline);
    return;
  }
  want_ = Want::kLeave;
  deadline_ms_ = deadline;
  grace_ms_ = *command.stop_grace_ms;
  SignalTree(SIGTERM);
}

void Supervisor::Serve(const Command& command, std::span<const int> descriptors) {
  if (command.exec) {
    execs_.Start(*command.exec, descriptors, program_alive_ ? "" : "the replica is ending");
  }
  if (command.release) execs_.Release(*command.release, NowMs());
  if (command.exec || command.release) Tell();
  Obey(command);
}

std::int64_t Supervisor::NextDue() const {
  std::int64_t due = kNever;
  if (link_.socket() < 0) due = std::min(due, link_.retry_at());
  if (said_changed_) due = std::min(due, tell_at_ms_);
  if (want_ == Want::kLeave) due = std::min(due, deadline_ms_);
  if (want_ == Want::kDie) due = std::min(due, next_round_ms_);
  return std::min(due, execs_.NextDue().value_or(kNever));
}

void Supervisor::Wait() {
  const auto link_events = static_cast<short>(POLLIN | (link_.wants_to_write() ? POLLOUT : 0));
  std::array<pollfd, 4> files{{{signals_, POLLIN, 0},
                               {output_, POLLIN, 0},
                               {module_.socket(), POLLIN, 0},
                               {link_.socket(), link_events, 0}}};
  const std::int64_t due = NextDue();
  const std::int64_t wait = due == kNever ? -1 : std::clamp<std::int64_t>(due - NowMs(), 0, 60'000);
  poll(files.data(), files.size(), static_cast<int>(wait));
  Turn();
}

void Supervisor::Turn() {
  signalfd_siginfo signal{};
  bool child = false;
  while (read(signals_, &signal, sizeof(signal)) == sizeof(signal)) {
    if (signal.ssi_signo == SIGTERM) Obey({.stop_grace_ms = spec_.term_grace_ms});
    if (signal.ssi_signo == SIGCHLD) child = true;
  }
  Drain();
  if (module_.Take(state_.said)) {
    said_changed_ = true;
    state_.said_unix_ms = UnixMs();
  }
  if (child) Reap();

  std::int64_t now = NowMs();
  if (said_changed_ && now >= tell_at_ms_) Tell();
  link_.Turn(now);

  now = NowMs();
  execs_.Turn(now);
  if (want_ == Want::kLeave && now >= deadline_ms_) Obey({.kill = true});
  if (want_ != Want::kLeave && !program_alive_ && children_ && want_ != Want::kDie) {
    Obey({.kill = true});
  }
  if (want_ == Want::kDie && children_ && now >= next_round_ms_) {
    if (program_alive_) killed_by_us_ = true;
    killer_.Round();
    Reap();
    next_round_ms_ = NowMs() + round_pause_ms_;
    round_pause_ms_ = std::min(round_pause_ms_ * 2, kLongestRoundPauseMs);
  }
}

// As a subreaper this process has children for as long as anything of the tree is left.
void Supervisor::Reap() {
  while (true) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0 && pid == program_) {
      TakeStatus(status);
    } else if (pid > 0 && execs_.TakeStatus(pid, status)) {
      Tell();
    }
    if (pid > 0) continue;
    children_ = pid == 0 || (errno != ECHILD);
    return;
  }
}

void Supervisor::TakeStatus(int status) {
  program_alive_ = false;
  execs_.KillAll();
  ended_.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ended_.at_unix_ms = UnixMs();
  ended_.at_boottime_ms = NowMs();
  ended_.wall_ms = ended_.at_boottime_ms - started_boottime_ms_;
  ended_.reason = ended_.code == 0 ? "Completed" : "Error";
  if (WIFSIGNALED(status)) {
    ended_.message = std::string("ended by signal ") + std::to_string(WTERMSIG(status)) + " (" +
                     strsignal(WTERMSIG(status)) + ")";
  }
  const bool killed = killed_by_us_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (killed && grace_ms_ > 0) {
    ended_.message = "did not leave within " + std::to_string(grace_ms_) + " ms and was killed";
  } else if (killed) {
    ended_.message = "was killed";
  }
}

void Supervisor::Drain() {
  if (output_ < 0) return;
  std::array<char, 64 * 1024> bytes;
  // Bounded while it runs, so that a flood of output cannot hold up a command.
  for (int i = 0; i < kReadsPerTurn || !(program_alive_ || children_); ++i) {
    const ssize_t size = read(output_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    if (size == 0) {
      close(output_);
      output_ = -1;
      return;
    }
    log_.Write({bytes.data(), static_cast<std::size_t>(size)}, UnixMs());
  }
}

void Supervisor::Tell() {
  said_changed_ = false;
  tell_at_ms_ = NowMs() + kTellStepMs;
  state_.execs_ended = execs_.ended();
  link_.Update(Encode(state_));
}

void Supervisor::End() {
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) == 0) {
    ended_.cpu_ms = CpuMs(usage);
    ended_.max_rss_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  }
  if (OomKills(spec_.oom_file) > oom_kills_before_ && ended_.code != 0) {
    if (ended_.code == 128 + SIGKILL) ended_.reason = "OOMKilled";
    ended_.message = "a process of it was killed because the memory limit was reached";
  }
  if (log_.dropped_bytes() > 0) {
    if (!ended_.message.empty()) ended_.message += "; ";
    ended_.message +=
        std::to_string(log_.dropped_bytes()) + " bytes of its output could not be stored";
  }
  for (const std::string& group : spec_.cgroups) rmdir(group.c_str());
}

}  // namespace pondage::shim
