// What the server and its shims tell each other: spec and exit record on disk, messages on the
// socket.
//
// Values and pure functions; any thread. A record is text: a heading, then `key length bytes`
// lines, closed by `end 0 `. Unknown keys are skipped, so that a newer server can speak to older
// shims that still run; a heading of another protocol is refused. Decoders take any bytes and never
// recurse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pondage::shim {

inline constexpr int kProtocol = 1;
inline constexpr std::size_t kSpecLimit = 32u << 20;
inline constexpr std::size_t kMessageLimit = 64u << 10;

// What a shim can do beyond the first ones, which say nothing of it (0).
inline constexpr std::int64_t kExecLevel = 1;  // takes Command::exec and Command::release
inline constexpr std::size_t kExecsAtOnce = 128;

// One start of one replica. Written by the server to `spec`, read once by its shim.
struct Spec {
  std::string uid;
  std::int64_t start = 0;
  std::vector<std::string> argv;
  std::vector<std::string> env;  // KEY=VALUE, the whole environment
  std::string working_dir;
  std::optional<std::int64_t> user;
  std::optional<std::int64_t> group;
  std::vector<std::int64_t> groups;  // supplementary
  bool no_new_privileges = false;
  std::int64_t log_cap_bytes = 0;       // 0: none
  std::string module_socket;            // path to bind; empty: none
  std::string agent_socket;             // the server's, relative to the replica's directory
  std::vector<std::string> cgroups;     // directories that the program joins
  std::string oom_file;                 // has a line `oom_kill N`; empty: none
  std::string kill_file;                // "1" written there ends the group (cgroup v2)
  std::string freezer;                  // directory of a freezer group (cgroup v1)
  std::int64_t term_grace_ms = 30'000;  // when the shim itself gets SIGTERM
  std::string boot_id;                  // of the boot it was written in
  std::int64_t written_unix_ms = 0;
  std::string checkpoint_dir;  // for the server alone, which may be another one by then
  // "DEVICE INODE PATH": mounted there, else there is no start.
  std::vector<std::string> expected_files;
  // "ro|rw DEVICE INODE SOURCE", a zero byte, "TARGET": left to the shim, in this order.
  std::vector<std::string> mounts;
  bool operator==(const Spec&) const = default;
};

// How a start ended. Reasons: Completed, Error, OOMKilled, StartFailed (code 127: no such program,
// 126: not executable, 128: anything else).
struct Ended {
  std::string uid;
  std::int64_t start = 0;
  std::int64_t pid = 0;  // of the program; 0: it never started
  std::int64_t started_unix_ms = 0;
  std::int64_t code = 0;  // as a shell shows it: 128 + n for signal n
  std::string reason;
  std::string message;
  std::string id;  // of the message catalogue, for StartFailed
  std::int64_t at_unix_ms = 0;
  std::int64_t at_boottime_ms = 0;
  std::string boot_id;
  std::int64_t wall_ms = 0;
  std::int64_t cpu_ms = 0;
  std::int64_t max_rss_bytes = 0;  // of the largest process
  bool operator==(const Ended&) const = default;
};

// Last values that the job's own module reported; -1: never.
struct Said {
  bool hello = false;
  std::int64_t step = -1;
  std::int64_t checkpoint_step = -1;
  std::string checkpoint_path;
  std::int64_t input_wait_permille = -1;
  bool operator==(const Said&) const = default;
};

// How a further program of this replica ended (see Exec).
struct ExecEnded {
  std::int64_t id = 0;
  std::int64_t code = 0;  // as a shell shows it; 126, 127: it never started
  std::string message;
  bool operator==(const ExecEnded&) const = default;
};

// From shim to server, whole each time: a lost message costs nothing.
struct State {
  std::string uid;
  std::int64_t start = 0;
  std::int64_t shim_pid = 0;
  std::int64_t pid = 0;  // of the program; 0: not started yet
  std::int64_t started_unix_ms = 0;
  Said said;
  std::int64_t said_unix_ms = 0;
  std::optional<Ended> ended;
  std::int64_t level = 0;              // what this shim can do
  std::vector<ExecEnded> execs_ended;  // until the server releases them
  bool operator==(const State&) const = default;
};

// A further program in the replica's surroundings. Three descriptors come with the message: its
// input, output and error.
struct Exec {
  std::int64_t id = 0;  // the server's, of this connection: what it began ends with it
  std::vector<std::string> argv;
  bool terminal = false;  // the input becomes its controlling terminal
  bool operator==(const Exec&) const = default;
};

// From server to shim.
struct Command {
  std::optional<std::int64_t> stop_grace_ms = std::nullopt;  // SIGTERM now, SIGKILL then
  bool kill = false;                                         // SIGKILL now
  std::optional<Exec> exec = std::nullopt;
  std::optional<std::int64_t> release = std::nullopt;  // an Exec's id: end it, forget how it ended
  bool operator==(const Command&) const = default;
};

std::string Encode(const Spec& spec);
std::string Encode(const Ended& ended);
std::string Encode(const ExecEnded& ended);
std::string Encode(const Exec& exec);
std::string Encode(const State& state);
std::string Encode(const Command& command);
std::optional<Spec> DecodeSpec(std::string_view bytes);
std::optional<Ended> DecodeEnded(std::string_view bytes);
std::optional<ExecEnded> DecodeExecEnded(std::string_view bytes);
std::optional<Exec> DecodeExec(std::string_view bytes);
std::optional<State> DecodeState(std::string_view bytes);
std::optional<Command> DecodeCommand(std::string_view bytes);

// One datagram of the job's module (`1 hello`, `1 step N`, `1 checkpoint N PATH`,
// `1 input-wait PERMILLE`). False, and nothing changed, when it is malformed.
inline constexpr std::size_t kModuleMessageLimit = 4096;
bool TakeModuleMessage(std::string_view line, Said& said);

}  // namespace pondage::shim
