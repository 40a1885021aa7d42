#include "submission/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

extern char** environ;

namespace pondage::submission {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;

pid_t Spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : -1;
}

using Moment = std::chrono::steady_clock::time_point;

// Waits until `file` can be read. False: not before `end`.
bool Await(int file, Moment end) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wanted{file, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool ReadToEnd(int file, Moment end, std::string& output) {
  std::array<char, 4096> room{};
  while (true) {
    if (!Await(file, end)) return false;
    const ssize_t got = read(file, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (output.size() < kMostOutput) output.append(room.data(), static_cast<std::size_t>(got));
  }
}

// A program may close its output long before it ends.
bool AwaitEnd(pid_t pid, Moment end) {
  const int program = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (program < 0) return false;
  const bool ended = Await(program, end);
  close(program);
  return ended;
}

}  // namespace

std::optional<ProgramResult> RunProgram(const std::vector<std::string>& words,
                                        std::chrono::milliseconds limit) {
  if (words.empty()) return std::nullopt;
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t pid = Spawn(words, pipe[1]);
  close(pipe[1]);
  if (pid < 0) {
    close(pipe[0]);
    return std::nullopt;
  }
  ProgramResult result;
  const auto end = std::chrono::steady_clock::now() + limit;
  if (!ReadToEnd(pipe[0], end, result.output) || !AwaitEnd(pid, end)) {
    result.timed_out = true;
    kill(-pid, SIGKILL);
  }
  close(pipe[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace pondage::submission
