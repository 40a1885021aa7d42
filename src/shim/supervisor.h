// Runs one start of one replica from its spec to its exit record.
//
// One thread, sleeps in poll() until something happens. Invariants:
//   1. The exit record is written before the server is told, and nothing of the tree is left by
//   then.
//   2. The exit code is the program's own; whoever outlives it is killed, or has the rest of the
//      grace when the replica was asked to leave.
//   3. A deadline once given is kept, whether the server lives or not; a later one never extends
//   it.
//   4. Further programs (Execs) end with the program or with the connection that asked for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shim/execs.h"
#include "shim/killer.h"
#include "shim/log_writer.h"
#include "shim/module_socket.h"
#include "shim/program.h"
#include "shim/server_link.h"
#include "shim/wire.h"

namespace pondage::shim {

class Supervisor {
 public:
  // `why_not`: it is not to be started, and ends with that.
  explicit Supervisor(Spec spec, std::optional<StartFailure> why_not = std::nullopt);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Returns when the replica has ended and its record is on disk. False: it could not be written.
  bool Run();

 private:
  enum class Want : std::uint8_t { kRun, kLeave, kDie };

  bool KeepExit() const;
  void Start();
  void Obey(const Command& command);
  void Serve(const Command& command, std::span<const int> descriptors);
  void Turn();
  void Wait();
  void Reap();
  void Drain();
  void Tell();
  void TakeStatus(int status);
  void End();
  std::int64_t NextDue() const;

  Spec spec_;
  std::optional<StartFailure> why_not_;
  State state_;
  Ended ended_;
  LogWriter log_;
  ModuleSocket module_;
  ServerLink link_;
  Killer killer_;
  Execs execs_;

  int signals_ = -1;
  int output_ = -1;
  pid_t program_ = 0;
  bool program_alive_ = false;
  bool children_ = true;  // something of the tree may be left
  Want want_ = Want::kRun;
  std::int64_t grace_ms_ = 0;
  std::int64_t deadline_ms_ = 0;  // of kLeave
  std::int64_t next_round_ms_ = 0;
  std::int64_t round_pause_ms_ = 10;
  bool killed_by_us_ = false;
  std::int64_t tell_at_ms_ = 0;
  bool said_changed_ = false;
  std::int64_t started_boottime_ms_ = 0;
  std::int64_t oom_kills_before_ = 0;
};

}  // namespace pondage::shim
