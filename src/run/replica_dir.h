// One replica's directory below the data directory, and what lies in it.
//
// `spec` (what was started last), `exit` (how it ended; renamed to `taken` once that is known for
// good), `lock` (held by the shim for its whole life, by the server while it starts one),
// `<start>.log…`, `module.sock`. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shim/descriptor.h"
#include "shim/wire.h"

namespace pondage::run {

class ReplicaDir {
 public:
  // Whether a uid may name a directory.
  static bool IsName(std::string_view uid);

  // Requires IsName(uid).
  ReplicaDir(const std::string& data_dir, const std::string& uid);

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const { return path_ + "/" + std::string(name); }

  bool Make() const;
  void Erase() const;
  std::optional<shim::Spec> ReadSpec() const;
  // Of this start only; also when it was taken.
  std::optional<shim::Ended> ReadExit(std::int64_t start) const;
  // The end of this start is known for good.
  void Take(std::int64_t start) const;
  bool IsTaken(std::int64_t start) const;
  // Whether its shim ever ran.
  bool HasBegun(std::int64_t start) const;
  // Whether a shim was started for this start, or for one after it: it lives, it ran, or it told
  // how it ended. A spec alone says only that a server was about to start one; one of before the
  // machine was restarted, that the program may have run when it went down.
  bool IsMade(std::int64_t start) const;
  // Before a start: of none before it.
  void ForgetEnds() const;

  // An open file description that holds the lock until its last duplicate is closed. None: a shim
  // of this replica lives (or the directory is missing).
  shim::Descriptor TakeLock() const;
  bool IsLocked() const;

 private:
  std::optional<shim::Ended> ReadEnd(std::string_view name, std::int64_t start) const;

  std::string path_;
};

}  // namespace pondage::run
