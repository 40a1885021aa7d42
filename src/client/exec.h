// A program inside a running replica, seen from here: one WebSocket, its streams by channel
// (v5.channel.k8s.io).
//
// One call from one thread; it makes a thread of its own that reads the input. Only exec.cc sees
// Beast's WebSocket.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/kubeconfig.h"

namespace pondage::client {

struct WindowSize {
  int columns = 80, rows = 24;
};

struct ExecWish {
  std::string pod_path;  // "/api/v1/namespaces/ml/pods/mnist-7-worker-0"
  std::vector<std::string> command;
  int in = -1;            // read to its end; -1: the program gets no input
  bool terminal = false;  // the program gets a terminal; what it says is all `on_out`
  std::function<void(std::string_view bytes)> on_out, on_err;
  std::function<WindowSize()> window;  // asked at the start and when it changed
};

// The program's exit code, 128 + n when signal n ended it. Errors: those of a refused request;
// kUnavailable (PND-C001) when the connection is lost, which ends the program.
base::Result<int> Exec(const ServerPlace& place, const ExecWish& wish);

}  // namespace pondage::client
