// Further programs that the server started inside a replica, from their start to their end.
//
// One thread (it forks). They are children of the shim like the program: what they leave behind is
// the tree's. Each has a session of its own, by which all of it is found.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shim/wire.h"

namespace pondage::shim {

class Execs {
 public:
  explicit Execs(const Spec& spec) : spec_(spec) {}
  ~Execs();
  Execs(const Execs&) = delete;
  Execs& operator=(const Execs&) = delete;

  // `refusal`: why none may start any more; empty: it may.
  void Start(const Exec& exec, std::span<const int> streams, const std::string& refusal);
  // Nobody wants it any more: it is hung up, and killed a little later.
  void Release(std::int64_t id, std::int64_t now_ms);
  void ReleaseAll(std::int64_t now_ms);
  void KillAll();

  // Whether that child was one of them.
  bool TakeStatus(pid_t pid, int status);
  // Kills what was hung up long enough.
  void Turn(std::int64_t now_ms);
  std::optional<std::int64_t> NextDue() const;

  const std::vector<ExecEnded>& ended() const { return ended_; }

 private:
  struct Running {
    std::int64_t id = 0;
    pid_t pid = 0;
    int report = -1;
    std::string name;
    std::optional<std::int64_t> kill_at_ms;  // nobody wants it
  };
  void HangUp(Running& running, std::int64_t now_ms);

  Spec spec_;
  std::vector<Running> running_;
  std::vector<ExecEnded> ended_;
};

}  // namespace pondage::shim
