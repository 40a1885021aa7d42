// Sees newer checkpoints in the directories of running replicas.
//
// One thread; reads the file system when asked. TensorFlow's `checkpoint` file names the newest
// where there is one; else the newest entry counts once it has stopped changing (or the replica has
// ended).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "port/runner.h"
#include "run/rights.h"

namespace pondage::run {

class CheckpointWatch {
 public:
  // What lies there already is not news, except after a restart of the server.
  // It is looked at with those rights: a submitter names the directory.
  void Watch(const std::string& uid, const std::string& directory, bool report_present,
             std::optional<Rights> rights = std::nullopt);
  void Unwatch(const std::string& uid) { watched_.erase(uid); }
  bool empty() const { return watched_.empty(); }

  std::vector<port::Saved> Look();
  // The last look at a replica that has ended: nothing changes any more.
  std::optional<port::Saved> LastLook(const std::string& uid);

 private:
  struct Seen {
    std::string path;
    std::int64_t step = -1;
    std::int64_t modified_ns = 0;
    std::int64_t size = 0;
    bool settled = false;  // named by a `checkpoint` file, which is replaced as a whole
    bool operator==(const Seen&) const = default;
  };
  struct Watched {
    std::string directory;
    std::optional<Rights> rights;
    std::optional<Seen> reported;
    std::optional<Seen> candidate;
  };

  static std::optional<Seen> Newest(const Watched& watched);
  static std::optional<Seen> Named(const std::string& directory);
  static std::optional<port::Saved> Judge(const std::string& uid, Watched& watched, bool last);

  std::map<std::string, Watched> watched_;
};

// "…/ckpt-120", "120", "model_120.keras", "ckpt-120.index": 120. -1: the name does not say.
std::int64_t StepOf(std::string_view name);

// The value of `model_checkpoint_path` in a `checkpoint` file; empty: there is none.
std::string ModelCheckpointPath(std::string_view text);

}  // namespace pondage::run
