// Staying with a job: its states on stderr, what its replicas write on stdout, until its end.
//
// Called from main's thread; makes threads of its own, all gone when it returns.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "terminal/screen.h"

namespace pondage::session {

// Follows restarts and requeues. The result is the job's exit code for the shell; kDetached after
// Ctrl-C.
base::Result<int> FollowJob(client::Client& client, const terminal::Screen& screen,
                            const std::string& space, const std::string& name);

struct LogWish {
  std::string replica;  // "worker/1"; empty: all, merged
  std::string query;    // further query of pods/log, "&tailLines=5"
  bool timestamps = false;
};
// Only the output, of all starts from now on, until the job has ended.
base::Result<int> FollowLogs(client::Client& client, const terminal::Screen& screen,
                             const std::string& space, const std::string& name,
                             const LogWish& wish);

// "worker/0 | " in the replica's colour, as wide as the widest of `width` columns.
std::string LogPrefix(const std::string& replica, int width, const terminal::Screen& screen);

}  // namespace pondage::session
