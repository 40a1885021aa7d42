// A modelled machine: programs that start, run, save, ignore signals and die in virtual time.
//
// The simulator's face of port::Runner: one thread, driven by World. It outlives the loop, as shims
// outlive a server: a new loop adopts what it runs.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "port/clock.h"
#include "port/launcher.h"
#include "port/runner.h"

namespace pondage::sim {

// How the programs of a job behave.
struct Script {
  base::Millis startup{2'000};  // until the first step
  base::Millis run{60'000};     // from the start to the exit
  int exit_code = 0;
  bool serves_for_ever = false;  // a ps or a worker of a job with a chief: never ends by itself
  bool ignores_sigterm = false;
  base::Millis save{1'000};  // from SIGTERM to its exit
  int exit_on_sigterm = 143;
  bool says_hello = false;  // carries the module: hello, steps
  bool saves = false;       // ... and checkpoints
};

class Machine : public port::Runner {
 public:
  explicit Machine(port::Clock& clock) : clock_(clock) {}

  // What the programs of "namespace/job" do, by replica ("worker-0"); asked at each start.
  using ScriptOf = std::function<Script(const std::string& job, const std::string& replica)>;
  void Play(ScriptOf script_of) { script_of_ = std::move(script_of); }

  // How long each start is prepared; without, no time passes.
  void Hamper(std::function<base::Millis()> preparing) { preparing_time_ = std::move(preparing); }

  void Listen(Sink sink) override { sink_ = std::move(sink); }
  void Adopt(const std::vector<Known>& known) override;
  void Start(const std::string& uid, int start, MakeLaunch make) override;
  void Stop(const std::string& uid, base::Millis grace) override;
  void Kill(const std::string& uid) override;
  void Forget(const std::string& uid, int start) override;
  void Erase(const std::string& uid) override;

  // The wall's clock is so far ahead from now on: what happens is stamped by it, and takes no
  // longer.
  void SetWall(base::Millis ahead) { wall_ahead_ = ahead; }

  // The server is away: nothing is told until the next Listen and Adopt, and what it prepared is
  // void.
  void Deafen() {
    sink_ = nullptr;
    preparing_.clear();
    refused_.clear();
    claimed_.clear();
  }

  base::Instant NextEvent() const;
  void Advance(base::Instant now);  // everything that happens up to `now`

  // Killed from outside. False when it does not run.
  bool Strike(const std::string& uid, int code);
  void LosePower();

  struct Running {
    std::string uid;
    std::string job;
    std::string replica;
    std::vector<std::string> gpus;  // "node:index", as its Pod says
  };
  std::vector<Running> Alive() const;
  const std::map<std::string, int>& starts() const { return starts_; }  // by "uid/start"

 private:
  struct Program {
    port::Launch launch;
    Script script;
    std::string job, replica;
    base::Instant began;  // as stamped
    base::Instant ends = base::kNever;
    int ends_with = 0;
    base::Instant kill_at = base::kNever;
    base::Instant says = base::kNever;
    std::int64_t steps = 0;
    bool alive = true;
    bool forgotten = false;  // its exit was taken: never told again
    bool lost = false;       // it ended with its machine
    int code = 0;
    base::Instant exited;  // as stamped
    std::int64_t exited_ms = 0;
  };
  struct Preparing {
    int start = 0;
    MakeLaunch make;
    base::Instant tell, ready, give_up;
  };
  base::Instant Stamp() const { return clock_.Now() + wall_ahead_; }
  void Begin(const std::string& uid, int start, const MakeLaunch& make);
  void AdvanceStart(const std::string& uid, base::Instant now);
  bool Withdraw(const std::string& uid, const std::string& why);
  void Refuse(port::NotStarted refusal);
  void Exit(Program& program, int code);
  void Tell(const Program& program);
  void TellExit(const Program& program);
  void Say(Program& program);

  port::Clock& clock_;
  Sink sink_;
  ScriptOf script_of_ = [](const std::string&, const std::string&) { return Script{}; };
  std::function<base::Millis()> preparing_time_ = [] { return base::Millis{0}; };
  std::map<std::string, Preparing> preparing_;
  std::map<std::string, int> refused_;  // until that is forgotten
  std::map<std::string, Program> programs_;
  std::map<std::string, int> starts_;
  std::set<std::string> erased_;
  std::set<std::string> claimed_;  // adopted or started since the server came
  int boot_ = 1;
  base::Millis wall_ahead_{0};
};

// Reads from the Pod what the model needs; nothing of this machine.
class PlainLauncher : public port::Launcher {
 public:
  base::Result<port::Launch> LaunchOf(const std::string& pod_body, int start) override;
  void Discard(const std::string&) override {}
};

}  // namespace pondage::sim
