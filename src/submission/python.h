// The Python that a job will run with: found on this machine, asked for its versions.
//
// Runs short programs; one thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "terminal/screen.h"

namespace pondage::submission {

struct Python {
  std::string prefix;   // "/u/li/venv": what an environment is recorded as
  std::string program;  // the interpreter
  std::string version;  // "3.11.7"
};
// VIRTUAL_ENV, else python3 of the PATH; PND-C017.
base::Result<Python> PresentPython(const terminal::Surroundings& around);

struct TensorFlowFacts {
  std::string version;   // empty: not installed
  std::string keras;     // version of Keras it would use
  std::string tf_keras;  // empty: not installed
};
// Reads the installed packages' metadata; nothing is imported. None: it could not be asked.
std::optional<TensorFlowFacts> AskTensorFlow(const std::string& program);

// "local/" and a digest of the prefix: the name under which it is recorded.
std::string LocalImage(const std::string& prefix);

}  // namespace pondage::submission
