#include "agent/account.h"

#include <pwd.h>

#include <array>

namespace pondage::agent {
namespace {

constexpr std::size_t kEntryBytes = 16 * 1024;

Account FromEntry(const passwd& entry) {
  return {entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir};
}

}  // namespace

Account AccountOf(std::uint32_t user) {
  std::array<char, kEntryBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return FromEntry(entry);
  }
  return {user, user, std::to_string(user), "/"};
}

base::Result<Account> AccountNamed(const std::string& name) {
  std::array<char, kEntryBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return base::Fail(base::Kind::kNotFound, "PND-R008", name, "is no account of this machine");
  }
  return FromEntry(entry);
}

base::Result<Account> Choose(const Account& server, const std::optional<Account>& run_as,
                             std::optional<std::uint32_t> asked_user,
                             std::optional<std::uint32_t> asked_group) {
  Account chosen = run_as.value_or(server);
  if (asked_user && *asked_user != chosen.user) chosen = AccountOf(*asked_user);
  if (asked_group) chosen.group = *asked_group;
  if (run_as && run_as->user != 0 && (chosen.user == 0 || chosen.group == 0)) {
    return base::Fail(base::Kind::kForbidden, "PND-R008",
                      "runAsUser " + std::to_string(chosen.user),
                      "is root: this server was told to run jobs as " + run_as->name);
  }
  if (server.user == 0 || (chosen.user == server.user && chosen.group == server.group))
    return chosen;
  return base::Fail(base::Kind::kForbidden, "PND-R008", "runAsUser " + std::to_string(chosen.user),
                    "needs a server that runs as root: this one runs as " + server.name);
}

}  // namespace pondage::agent
