#include "run/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include <cstring>

namespace pondage::run {

base::Result<pid_t> SpawnShim(const Spawn& spawn) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);

  posix_spawn_file_actions_addchdir_np(&actions, spawn.directory.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, spawn.error_file.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // The second first: its number may be the first one's target. Both come from above 4 (see Move).
  if (spawn.arguments >= 0) posix_spawn_file_actions_adddup2(&actions, spawn.arguments, 4);
  posix_spawn_file_actions_adddup2(&actions, spawn.lock, 3);
  // Nothing else of this process lives on in it: a listening socket that a job held would keep the
  // next server from its port.
  posix_spawn_file_actions_addclosefrom_np(&actions, spawn.arguments >= 0 ? 5 : 4);

  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> argv;
  argv.reserve(spawn.argv.size() + 1);
  for (const std::string& word : spawn.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* const environment[] = {nullptr};

  pid_t child = 0;
  const int error =
      posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return base::Fail(base::Kind::kUnavailable, "PND-R007", "",
                      "cannot start " + spawn.argv.front() + ": " + std::strerror(error));
  }
  return child;
}

}  // namespace pondage::run
