// Which Python environment of this machine serves which image: the registry behind `pondage env`.
//
// One small file below the data directory, replaced as a whole; each call reads it again, so that
// the command line and the server need no word between them. Any thread, any process of the
// account.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pondage::agent {

struct Environment {
  std::string image;       // as it was registered, in short form; "local/…" for `pondage run`
  std::string prefix;      // holds bin/python
  std::string python;      // version, "3.11.2"
  std::string tensorflow;  // version; empty: there is none
  std::string keras;
  bool operator==(const Environment&) const = default;
};

// "/opt/tf (Python 3.11.2, TensorFlow 2.15.0, Keras 2.15.0)": versions as they were registered.
std::string TextOf(const Environment& environment);

class Environments {
 public:
  explicit Environments(std::string data_dir) : data_dir_(std::move(data_dir)) {}

  // Starts its Python to ask for versions. kInvalid (PND-E003): none can be started there;
  // kAlreadyExists (PND-E005): the image has another prefix.
  base::Result<Environment> Add(std::string_view image, const std::string& prefix);
  // `prefix` when it has bin/python; where it has bin/python3 alone, as Debian's /usr, a directory
  // of links in which both names are it. kInvalid (PND-E003): neither may be executed.
  base::Result<std::string> WithPython(const std::string& prefix) const;
  base::Result<void> Remove(std::string_view image);

  base::Result<std::vector<Environment>> List() const;
  // What serves `image`. kNotFound (PND-E001) names those there are.
  base::Result<Environment> For(std::string_view image) const;

 private:
  std::string File() const { return data_dir_ + "/environments/list.json"; }
  base::Result<void> Keep(const std::vector<Environment>& environments) const;
  // A directory whose bin/python is that interpreter: its own, or one of links when it has another
  // name or shares its directory with the machine's programs.
  base::Result<std::string> PrefixOf(const std::string& interpreter) const;

  std::string data_dir_;
};

// The versions that the Python in `prefix` reports. kInvalid (PND-E003).
base::Result<Environment> ProbeEnvironment(const std::string& prefix);

}  // namespace pondage::agent
