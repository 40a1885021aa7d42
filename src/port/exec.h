// The port to a further program inside a running replica (kubectl exec, pondage exec): it sees the
// replica's files, environment, limits and account, and ends with the replica at the latest.
//
// Faces: run::ShimExec (the replica's shim starts it), test fakes.
// Thread rule: any thread; calls return at once. Results come from a thread of the face's own,
// which all of them share: `done` must return at once and may let its handle go.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace pondage::port {

// What one such program needs. The descriptors are the program's ends and become the face's, which
// closes them; the caller keeps the other ends. -1: the null device. Open a terminal with O_NOCTTY:
// it must not be the server's own.
struct ExecRequest {
  std::string uid;                // of the Pod
  std::vector<std::string> argv;  // argv[0] is looked up in the replica's PATH
  int in = -1, out = -1, err = -1;
  bool terminal = false;  // the three are one terminal's slave, which becomes the controlling one
};

struct ExecExit {
  int code = 0;  // as a shell shows it: 126 not executable, 127 not found, 128 + n for signal n
  std::string message;
};

class Exec {
 public:
  virtual ~Exec() = default;
  using Done = std::function<void(base::Result<ExecExit>)>;

  // Held while somebody is interested; letting it go ends the program (SIGHUP, then SIGKILL to its
  // process group) and `done` is not called after the destructor has returned, which waits for a
  // call that is under way on another thread: hold no lock that `done` takes.
  class Handle {
   public:
    virtual ~Handle() = default;
  };

  // `done` is called exactly once unless the handle goes first. kNotFound: no such replica runs.
  // kUnavailable: its shim is of an older version and cannot, or it does not answer, or the
  // replica ended first. kInvalid: more words than fit a message (64 KiB).
  virtual std::unique_ptr<Handle> Start(ExecRequest request, Done done) = 0;
};

}  // namespace pondage::port
