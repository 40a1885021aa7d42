// The account that a replica runs under on this machine, and its entry in the user database.
//
// Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/security.h"

namespace pondage::agent {

struct Account {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::string name;  // the number where there is no entry
  std::string home = "/";
  std::vector<std::uint32_t> groups = {};  // beside its own; ascending
  bool operator==(const Account&) const = default;

  bool IsIn(std::uint32_t one) const;
};

// Of a user by number, in no other group than its own; one without an entry is its number.
Account AccountOf(std::uint32_t user);
// By name, for `--run-as`, in all its groups. kNotFound (PND-R008).
base::Result<Account> AccountNamed(const std::string& name);
// Of this process, in all its groups.
Account OwnAccount();

// Who runs a replica whose Pod asks for `asked`, on a server that runs as `server` and was told to
// run replicas as `run_as`. Only root may become somebody else, and where an account was named for
// jobs none of them gets another user or a group that is not its own. Without a named one a user
// that a Pod chooses is in its own group and in those that the Pod names, and in no other that it
// has on this machine. kForbidden (PND-R008).
base::Result<Account> Choose(const Account& server, const std::optional<Account>& run_as,
                             const manifest::AskedAccount& asked);

// Whether a root server has to change its account for that.
bool ChangesAccount(const Account& server, const std::optional<Account>& run_as,
                    const manifest::AskedAccount& asked);

}  // namespace pondage::agent
