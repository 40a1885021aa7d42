// The port to programs on this machine: start, stop, and what became of them.
//
// Faces: run::ShimRunner (real processes under a shim that outlives the server), sim::Machine,
// replay::Programs. Thread rule: calls from the loop's thread only; they return at once. Readings
// come back through the sink, from any thread, in order per replica.
// Invariants:
//   1. A replica is started at most once per (uid, start number): a repeated Start is ignored, also
//      of one that was told NotStarted, until that is forgotten or the runner itself is another.
//   2. Every started replica is reported exited exactly once, through any restart of the server,
//      or lost when nothing is known of it any more.
//   3. What runs and is not in the first Adopt() after a restart is nobody's: it is killed and
//      erased without a word. So Adopt() is given every replica that is to be alive, also those
//      that were never seen started: their programs may have begun all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"
#include "base/result.h"

namespace pondage::port {

// Names a file or directory of this machine whatever its path.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

// A directory or file that appears at `target` for one replica alone.
struct Mount {
  std::string source;  // absolute path on this machine; empty: a new empty directory
  std::string target;  // absolute path inside
  bool read_only = false;
  // What was allowed: if the path leads anywhere else by then, the replica is not started.
  std::optional<FileId> expected = std::nullopt;
  bool own = false;  // made for this replica alone: nobody else changes what lies in it
  auto operator<=>(const Mount&) const = default;
};

// What one program needs. Strings are exact bytes; no shell.
struct Launch {
  std::string uid;                // of the Pod: names its directory below the data directory
  int start = 0;                  // in-place restarts so far: each has its own log file
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `env`
  std::map<std::string, std::string> env;  // whole environment
  std::string working_dir;
  std::vector<Mount> mounts;
  std::vector<int> ports;  // must be free to listen on: probed before the start
  std::optional<std::uint32_t> user_id, group_id;
  // Beside its group, of one that runs as `user_id`; none: those that this user is in.
  std::optional<std::vector<std::uint32_t>> group_ids;
  bool no_new_privileges = false;  // no set-user-id program gives it any
  base::Bytes memory_limit;        // 0: none
  base::MilliCpu cpu_limit;        // 0: none
  std::int64_t pids_limit = 0;     // 0: none
  base::Bytes log_cap;             // kept per start, over all rotated files
  std::string checkpoint_dir;      // watched for newer checkpoints; empty: none
};

struct Started {
  std::string uid;
  int start = 0;
  std::int64_t pid = 0;
  base::Instant at;
};
struct NotStarted {
  std::string uid;
  int start = 0;
  std::string message;
  std::vector<int> ports_taken;
  bool not_found = false;       // 127: no such program
  bool not_executable = false;  // 126
  std::string id;               // of the message catalogue ("PND-R002"); may be empty
};
// What a start that an error ended is told as.
inline NotStarted Refused(const std::string& uid, int start, const base::Error& error) {
  NotStarted refused;
  refused.uid = uid;
  refused.start = start;
  refused.message = error.object.empty() ? error.message : error.object + " " + error.message;
  refused.id = error.id;
  return refused;
}
struct Delayed {  // what a start needs has not answered for a while; it is waited for
  std::string uid;
  int start = 0;
  std::string message;
};
struct Said {  // by the job's own module
  std::string uid;
  int start = 0;
  std::int64_t step = -1;
  std::int64_t checkpoint_step = -1;
  std::string checkpoint_path;
  std::int64_t input_wait_permille = -1;  // share of the step spent waiting for input
  base::Instant at;
};
struct Saved {  // a newer checkpoint was seen in the checkpoint directory
  std::string uid;
  std::int64_t step = -1;  // -1: its name does not say
  std::string path;
  base::Instant at;
};
struct Exited {
  std::string uid;
  int start = 0;
  int code = 0;        // as a shell shows it
  std::string reason;  // Completed, Error, OOMKilled, Lost
  std::string message;
  base::Instant at;
  std::int64_t at_monotonic_ms = 0;
  std::string boot_id;
};
// Of what was adopted, all that had ended meanwhile was told before this: what was not runs on.
struct AllTold {};
using Reading = std::variant<Started, NotStarted, Delayed, Said, Saved, Exited, AllTold>;

class Runner {
 public:
  virtual ~Runner() = default;
  using Sink = std::function<void(Reading)>;

  // Once, before anything else.
  virtual void Listen(Sink sink) = 0;
  // After a restart of the server: take over what is running; each uid that was seen started is
  // answered by Started (again) or Exited. One that was not is answered so too when this machine
  // did carry out its start; when it did not, nothing is said and its Start must follow. Then comes
  // AllTold, each time; also, after a while, when an end cannot be told because something hangs.
  struct Known {
    std::string uid;
    int start = 0;
    std::string checkpoint_dir;
    bool seen_started = true;
  };
  virtual void Adopt(const std::vector<Known>& known) = 0;

  // What a start needs, looked up and made on this machine. It may take as long as the file systems
  // do, so the runner calls it on a thread of its own, where it may hang for ever: it owns what it
  // uses. At most once a Start, of each replica one at a time, those of several at once. An error
  // becomes NotStarted.
  using MakeLaunch = std::function<base::Result<Launch>()>;
  // Until its program is started, Stop and Kill take a start back (NotStarted), and an Erase waits
  // for what is being made.
  virtual void Start(const std::string& uid, int start, MakeLaunch make) = 0;
  virtual void Stop(const std::string& uid, base::Millis grace) = 0;  // SIGTERM, then SIGKILL
  virtual void Kill(const std::string& uid) = 0;
  // The end of this start, Exited or NotStarted, was taken for good (committed): its record may go.
  // Logs stay until Erase, and a start that was carried out stays known: it never is again.
  virtual void Forget(const std::string& uid, int start) = 0;
  virtual void Erase(const std::string& uid) = 0;  // logs and working files too
};

}  // namespace pondage::port
