#include "submission/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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
  std::array<char, 4096> room{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd wanted{pipe[0], POLLIN, 0};
    if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) == 0) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
      break;
    }
    const ssize_t got = read(pipe[0], room.data(), room.size());
    if (got <= 0) break;
    if (result.output.size() < kMostOutput)
      result.output.append(room.data(), static_cast<std::size_t>(got));
  }
  close(pipe[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace pondage::submission
