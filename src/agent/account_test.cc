#include "agent/account.h"

#include <gtest/gtest.h>

namespace pondage::agent {
namespace {

using Ids = std::vector<std::uint32_t>;
using manifest::AskedAccount;

const Account kRoot{0, 0, "root", "/root", {4}};
const Account kAda{1000, 1000, "ada", "/home/ada", {100, 2000}};

struct Row {
  const char* name;
  const Account& server;
  std::optional<Account> run_as;
  AskedAccount asked;
  const char* refused;  // what; empty: allowed, as
  std::uint32_t user = 0, group = 0;
  Ids groups = {};
};

// Only root becomes somebody else; where an account was named for jobs nobody becomes another; and
// nobody gets a group that was neither asked for nor named with the account.
TEST(Account, WhoRunsAProgramAndInWhichGroups) {
  const Account& jobs = kAda;
  const Row rows[] = {
      {"root's own", kRoot, {}, {}, "", 0, 0, {4}},
      {"a user without an entry", kRoot, {}, {.user = 1234567}, "", 1234567, 1234567, {}},
      {"... in groups",
       kRoot,
       {},
       {.user = 7777777, .group = 5, .fs_group = 9, .groups = {8, 9, 5}},
       "",
       7777777,
       5,
       {8, 9}},
      {"another group alone", kRoot, {}, {.group = 5}, "", 0, 5, {}},
      {"one more group alone", kRoot, {}, {.groups = {5}}, "", 0, 0, {5}},
      {"only listed groups", kRoot, {}, {.strict_groups = true}, "", 0, 0, {}},
      {"no root", kRoot, {}, {.non_root = true}, "runAsNonRoot"},
      {"no root, named as such", kRoot, {}, {.user = 0, .non_root = true}, "runAsNonRoot"},
      {"no root, and it is none",
       kRoot,
       {},
       {.user = 1234567, .non_root = true},
       "",
       1234567,
       1234567,
       {}},
      {"no capabilities", kRoot, {}, {.drops = true}, "capabilities.drop"},
      {"no capabilities, and it has none",
       kRoot,
       {},
       {.user = 1234567, .drops = true},
       "",
       1234567,
       1234567,
       {}},

      {"the named one", kRoot, jobs, {}, "", 1000, 1000, {100, 2000}},
      {"... asked for", kRoot, jobs, {.user = 1000, .group = 1000}, "", 1000, 1000, {100, 2000}},
      {"... in its other group", kRoot, jobs, {.group = 100}, "", 1000, 100, {1000, 2000}},
      {"... in fewer",
       kRoot,
       jobs,
       {.groups = {2000}, .strict_groups = true},
       "",
       1000,
       1000,
       {2000}},
      {"... whose group files get", kRoot, jobs, {.fs_group = 2000}, "", 1000, 1000, {100, 2000}},
      {"... which is not root",
       kRoot,
       jobs,
       {.non_root = true, .drops = true},
       "",
       1000,
       1000,
       {100, 2000}},
      {"another user", kRoot, jobs, {.user = 0}, "runAsUser 0"},
      {"another group", kRoot, jobs, {.group = 0}, "runAsGroup 0"},
      {"another group of files", kRoot, jobs, {.fs_group = 999}, "fsGroup 999"},
      {"one more group", kRoot, jobs, {.groups = {100, 0}}, "supplementalGroups 0"},

      {"a user's own", kAda, {}, {}, "", 1000, 1000, {100, 2000}},
      {"... asked for",
       kAda,
       {},
       {.user = 1000, .group = 1000, .fs_group = 100, .groups = {2000}},
       "",
       1000,
       1000,
       {100, 2000}},
      {"... is not root", kAda, {}, {.non_root = true, .drops = true}, "", 1000, 1000, {100, 2000}},
      {"root of a user", kAda, {}, {.user = 0}, "runAsUser 0"},
      {"another group of a user", kAda, {}, {.group = 100}, "runAsGroup 100"},
      {"a group a user is not in", kAda, {}, {.groups = {4}}, "supplementalGroups 4"},
      {"files of a group it is not in", kAda, {}, {.fs_group = 4}, "fsGroup 4"},
      {"fewer groups of a user",
       kAda,
       {},
       {.strict_groups = true},
       "supplementalGroupsPolicy Strict"},
      {"an account named by a user", kAda, kRoot, {}, "--run-as root"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto chosen = Choose(row.server, row.run_as, row.asked);
    EXPECT_EQ(chosen ? "" : chosen.error().object, row.refused);
    if (!chosen) {
      EXPECT_EQ(chosen.error().id, "PND-R008");
      continue;
    }
    EXPECT_EQ(chosen->user, row.user);
    EXPECT_EQ(chosen->group, row.group);
    EXPECT_EQ(chosen->groups, row.groups);
  }
}

TEST(Account, AUserThatAPodChoosesIsNotInWhatElseItIsInHere) {
  const auto named = AccountNamed("root");
  ASSERT_TRUE(named);
  EXPECT_TRUE(AccountOf(0).groups.empty());
  EXPECT_FALSE(AccountNamed("no such account"));
}

}  // namespace
}  // namespace pondage::agent
