// One exec from the connection's side: pipes or a terminal to the program, messages to the client.
//
// By the protocol v4/v5.channel.k8s.io: the first byte of a message is its channel. See talk.h for
// the threads. Letting the talk go ends the program.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "port/exec.h"

namespace pondage::api {

class Talk;

struct ExecPlan {
  std::string uid;  // of the Pod
  std::vector<std::string> argv;
  bool in = false, out = false, err = false;  // what the client wants to be connected to
  bool terminal = false;                      // of all three; `err` is then the same as `out`
  bool closes = false;                        // v5: the client can close its input
};

// How many programs may run for clients at once. They take files, of which the server has not many.
class ExecSeats {
 public:
  explicit ExecSeats(int seats) : free_(seats) {}
  // Null: none is free. It is given back with the last copy.
  static std::shared_ptr<void> Take(const std::shared_ptr<ExecSeats>& seats);

 private:
  std::atomic<int> free_;
};

// kUnavailable: no pipes or terminals are left. `exec` must outlive the talk.
base::Result<std::shared_ptr<Talk>> MakeExecTalk(port::Exec& exec, ExecPlan plan,
                                                 std::shared_ptr<void> seat);

}  // namespace pondage::api
