// The account that a replica runs under on this machine, and its entry in the user database.
//
// Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace pondage::agent {

struct Account {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::string name;  // the number where there is no entry
  std::string home = "/";
  bool operator==(const Account&) const = default;
};

// Of a user by number; one without an entry is its number.
Account AccountOf(std::uint32_t user);
// By name, for `--run-as`. kNotFound (PND-R008).
base::Result<Account> AccountNamed(const std::string& name);

// Who runs a replica whose Pod asks for `asked`, on a server that runs as `server` and was told to
// run replicas as `run_as`. Only root may become somebody else, and where an account was named for
// jobs none of them gets another user or a group that is not its own: kForbidden (PND-R008).
base::Result<Account> Choose(const Account& server, const std::optional<Account>& run_as,
                             std::optional<std::uint32_t> asked_user,
                             std::optional<std::uint32_t> asked_group);

}  // namespace pondage::agent
