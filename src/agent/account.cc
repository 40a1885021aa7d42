#include "agent/account.h"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "run/groups.h"

namespace pondage::agent {
namespace {

constexpr std::size_t kEntryBytes = 16 * 1024;

Account FromEntry(const passwd& entry) {
  return {entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir};
}

// An account that was named for jobs is the only one, with the groups it has anyway: whoever
// submits a job would otherwise read another's files, or be in the group that may do everything.
base::Result<void> MayAsk(const Account& run_as, std::optional<std::uint32_t> user,
                          std::optional<std::uint32_t> group) {
  if (user && *user != run_as.user) {
    return base::Fail(base::Kind::kForbidden, "PND-R008", "runAsUser " + std::to_string(*user),
                      "is not allowed: this server runs all jobs as " + run_as.name + " (" +
                          std::to_string(run_as.user) + ")");
  }
  if (!group || *group == run_as.group) return {};
  const std::vector<gid_t> own = run::GroupsOf(run_as.user, run_as.group);
  if (std::ranges::find(own, *group) != own.end()) return {};
  return base::Fail(
      base::Kind::kForbidden, "PND-R008", "runAsGroup " + std::to_string(*group),
      "is not allowed: this server runs all jobs as " + run_as.name + ", who is not in it");
}

base::Result<Account> Become(const Account& server, const Account& chosen) {
  if (server.user == 0 || (chosen.user == server.user && chosen.group == server.group))
    return chosen;
  const std::string what = chosen.user != server.user
                               ? "runAsUser " + std::to_string(chosen.user)
                               : "runAsGroup " + std::to_string(chosen.group);
  return base::Fail(base::Kind::kForbidden, "PND-R008", what,
                    "needs a server that runs as root: this one runs as " + server.name);
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
  if (run_as) {
    TRY_DO(MayAsk(*run_as, asked_user, asked_group));
    Account chosen = *run_as;
    if (asked_group) chosen.group = *asked_group;
    return Become(server, chosen);
  }
  Account chosen = server;
  if (asked_user && *asked_user != chosen.user) chosen = AccountOf(*asked_user);
  if (asked_group) chosen.group = *asked_group;
  return Become(server, chosen);
}

}  // namespace pondage::agent
