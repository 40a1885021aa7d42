// The data of PersistentVolumeClaims below the data directory: `persistent/<claim uid>/`, which
// lives as long as the claim's object. A claim of the same name made later has another uid.
//
// Any thread; what takes long is removed on a thread for that (discard.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "port/store.h"

namespace pondage::agent {

class Claims {
 public:
  // Removes what a server before this one began to remove.
  explicit Claims(const std::string& data_dir);

  static bool IsUid(const std::string& uid);
  // Requires IsUid().
  static std::filesystem::path Of(const std::string& data_dir, const std::string& uid);
  void Drop(const std::string& uid) const;
  // An earlier layout kept them by name, `claims/<namespace>/<name>/`, with an object or without.
  // Each becomes that of the claim of its name. Before anything is started.
  // Gives a sentence about each directory that no claim owns: a store that was restored from an
  // older backup does not know them, so they are left alone.
  std::vector<std::string> TakeOver(const port::Store& store) const;

 private:
  std::vector<std::string> Unowned(const port::Store& store) const;

  std::string data_dir_;
};

}  // namespace pondage::agent
