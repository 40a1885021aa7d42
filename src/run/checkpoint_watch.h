// Sees newer checkpoints in the directory of one running replica.
//
// One thread at a time, which may hang in the file system: a submitter names the directory.
// TensorFlow's `checkpoint` file names the newest where there is one; else the newest entry counts
// once it has stopped changing (or the replica has ended).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "port/runner.h"
#include "run/rights.h"

namespace pondage::run {

class CheckpointWatch {
 public:
  // It is looked at with those rights. Touches nothing yet.
  CheckpointWatch(std::string uid, std::string directory, std::optional<Rights> rights)
      : uid_(std::move(uid)), directory_(std::move(directory)), rights_(std::move(rights)) {}

  // What lies there now is not news. Without, all of it is, as after a restart of the server.
  void PassOver() { reported_ = Newest(); }
  std::optional<port::Saved> Look() { return Judge(false); }
  // At a replica that has ended: nothing changes any more.
  std::optional<port::Saved> LastLook() { return Judge(true); }

 private:
  struct Seen {
    std::string path;
    std::int64_t step = -1;
    std::int64_t modified_ns = 0;
    std::int64_t size = 0;
    bool settled = false;  // named by a `checkpoint` file, which is replaced as a whole
    bool operator==(const Seen&) const = default;
  };

  std::optional<Seen> Newest() const;
  std::optional<Seen> Named() const;
  std::optional<port::Saved> Judge(bool last);

  const std::string uid_;
  const std::string directory_;
  const std::optional<Rights> rights_;
  std::optional<Seen> reported_;
  std::optional<Seen> candidate_;
};

// "…/ckpt-120", "120", "model_120.keras", "ckpt-120.index": 120. -1: the name does not say.
std::int64_t StepOf(std::string_view name);

// The value of `model_checkpoint_path` in a `checkpoint` file; empty: there is none.
std::string ModelCheckpointPath(std::string_view text);

}  // namespace pondage::run
