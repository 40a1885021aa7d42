// Looking at files with the rights of an account, by a server that has more.
//
// One thread at a time: only the calling thread changes, for as long as an AsAccount lives.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "port/runner.h"
#include "shim/wire.h"

namespace pondage::run {

struct Rights {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;
};

// Of the account that a replica runs as; none: the server's own.
std::optional<Rights> RightsOf(const port::Launch& launch);
std::optional<Rights> RightsOf(const shim::Spec& spec);

class AsAccount {
 public:
  // None: nothing changes.
  explicit AsAccount(const std::optional<Rights>& rights);
  AsAccount(const AsAccount&) = delete;
  AsAccount& operator=(const AsAccount&) = delete;
  ~AsAccount();

  // False: this thread may not become that account, and still is what it was.
  explicit operator bool() const { return ok_; }

 private:
  void GoBack();

  bool changed_ = false;
  bool ok_ = true;
  bool capable_ = false;  // `capabilities_` were put away
  std::array<std::uint32_t, 2> capabilities_{};
  std::vector<gid_t> own_groups_;
};

}  // namespace pondage::run
