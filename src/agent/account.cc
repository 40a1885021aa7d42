#include "agent/account.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "run/groups.h"
#include "run/touching.h"

namespace pondage::agent {
namespace {

constexpr std::size_t kEntryBytes = 16 * 1024;
constexpr const char* kAccounts = "the database of users and groups";

Account FromEntry(const passwd& entry) {
  return {entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir};
}

std::unexpected<base::Error> Refuse(std::string what, std::string why) {
  return base::Fail(base::Kind::kForbidden, "PND-R008", std::move(what), std::move(why));
}

std::vector<std::uint32_t> Sorted(std::vector<std::uint32_t> groups) {
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  return groups;
}

std::vector<std::uint32_t> OthersOf(const Account& account) {
  std::vector<std::uint32_t> others;
  for (const gid_t one : run::GroupsOf(account.user, account.group)) {
    if (one != account.group) others.push_back(one);
  }
  return Sorted(std::move(others));
}

// With the field that names it.
std::vector<std::pair<std::uint32_t, const char*>> GroupsAsked(
    const manifest::AskedAccount& asked) {
  std::vector<std::pair<std::uint32_t, const char*>> groups;
  if (asked.group) groups.emplace_back(*asked.group, "runAsGroup");
  if (asked.fs_group) groups.emplace_back(*asked.fs_group, "fsGroup");
  for (const std::uint32_t one : asked.groups) groups.emplace_back(one, "supplementalGroups");
  return groups;
}

// An account that was named for jobs is the only one, with the groups it has anyway: whoever
// submits a job would otherwise read another's files, or be in the group that may do everything.
base::Result<void> MayAsk(const Account& run_as, const manifest::AskedAccount& asked) {
  if (asked.user && *asked.user != run_as.user) {
    return Refuse("runAsUser " + std::to_string(*asked.user),
                  "is not allowed: this server runs all jobs as " + run_as.name + " (" +
                      std::to_string(run_as.user) + ")");
  }
  for (const auto& [group, field] : GroupsAsked(asked)) {
    if (run_as.IsIn(group)) continue;
    return Refuse(
        std::string(field) + " " + std::to_string(group),
        "is not allowed: this server runs all jobs as " + run_as.name + ", who is not in it");
  }
  return {};
}

// A server that is not root gives what it is itself.
base::Result<void> IsOwn(const Account& server, const manifest::AskedAccount& asked) {
  const std::string why = "needs a server that runs as root: this one runs as " + server.name;
  if (asked.user && *asked.user != server.user)
    return Refuse("runAsUser " + std::to_string(*asked.user), why);
  if (asked.group && *asked.group != server.group)
    return Refuse("runAsGroup " + std::to_string(*asked.group), why);
  if (asked.strict_groups && !server.groups.empty())
    return Refuse("supplementalGroupsPolicy Strict", why);
  for (const auto& [group, field] : GroupsAsked(asked)) {
    if (server.IsIn(group)) continue;
    return Refuse(std::string(field) + " " + std::to_string(group), why + ", who is not in it");
  }
  return {};
}

base::Result<void> IsWeakEnough(const Account& chosen, const manifest::AskedAccount& asked) {
  if (chosen.user != 0) return {};
  const std::string help = ": name another account, with runAsUser or as the server's --run-as";
  if (asked.non_root) return Refuse("runAsNonRoot", "but the program would run as root" + help);
  if (asked.drops) {
    return Refuse("capabilities.drop", "a program that runs as root keeps its capabilities" + help);
  }
  return {};
}

}  // namespace

Account AccountOf(std::uint32_t user) {
  const run::Touching touching(kAccounts);
  std::array<char, kEntryBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return FromEntry(entry);
  }
  return {user, user, std::to_string(user), "/"};
}

base::Result<Account> AccountNamed(const std::string& name) {
  const run::Touching touching(kAccounts);
  std::array<char, kEntryBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return base::Fail(base::Kind::kNotFound, "PND-R008", name, "is no account of this machine");
  }
  Account named = FromEntry(entry);
  named.groups = OthersOf(named);
  return named;
}

Account OwnAccount() {
  Account own = AccountOf(geteuid());
  if (own.user != 0) own.group = getegid();
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  if (getgroups(count, groups.data()) == count) {
    std::erase(groups, own.group);
    own.groups = Sorted({groups.begin(), groups.end()});
  }
  return own;
}

bool Account::IsIn(std::uint32_t one) const {
  return one == group || std::ranges::binary_search(groups, one);
}

bool ChangesAccount(const Account& server, const std::optional<Account>& run_as,
                    const manifest::AskedAccount& asked) {
  return server.user == 0 &&
         (run_as || asked.user || asked.strict_groups || !GroupsAsked(asked).empty());
}

base::Result<Account> Choose(const Account& server, const std::optional<Account>& run_as,
                             const manifest::AskedAccount& asked) {
  Account chosen = run_as.value_or(server);
  if (run_as) {
    TRY_DO(MayAsk(*run_as, asked));
    if (server.user != 0 && (run_as->user != server.user || run_as->group != server.group)) {
      return Refuse("--run-as " + run_as->name,
                    "needs a server that runs as root: this one runs as " + server.name);
    }
  }
  if (server.user != 0) TRY_DO(IsOwn(server, asked));
  if (asked.user && *asked.user != chosen.user) chosen = AccountOf(*asked.user);
  TRY_DO(IsWeakEnough(chosen, asked));
  if (!ChangesAccount(server, run_as, asked)) return chosen;
  if (asked.strict_groups || !run_as) chosen.groups.clear();
  // Whose groups all count is in that of its entry, also where another is its first.
  if (run_as && !asked.strict_groups) chosen.groups.push_back(chosen.group);
  for (const auto& [group, field] : GroupsAsked(asked)) chosen.groups.push_back(group);
  if (asked.group) chosen.group = *asked.group;
  std::erase(chosen.groups, chosen.group);
  chosen.groups = Sorted(std::move(chosen.groups));
  return chosen;
}

}  // namespace pondage::agent
