#include "run/rights.h"

#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/assert.h"
#include "run/groups.h"

namespace pondage::run {
namespace {

// By number: the C library would change all threads.
bool SetGroups(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

bool SetUserAndGroup(uid_t user, gid_t group) {
  setfsgid(group);
  setfsuid(user);  // with it go, or come, the capabilities that pass over file modes
  return static_cast<uid_t>(setfsuid(uid_t(-1))) == user &&
         static_cast<gid_t>(setfsgid(gid_t(-1))) == group;
}

// Exchanges the capabilities of this thread that are in force for these.
bool SwapEffective(std::array<std::uint32_t, 2>& capabilities) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return false;
  for (std::size_t i = 0; i < data.size(); ++i) std::swap(data[i].effective, capabilities[i]);
  return syscall(SYS_capset, &header, data.data()) == 0;
}

}  // namespace

std::optional<Rights> RightsOf(const port::Launch& launch) {
  if (!launch.user_id) return std::nullopt;
  const gid_t group = launch.group_id.value_or(*launch.user_id);
  return Rights{*launch.user_id, group,
                launch.group_ids
                    ? std::vector<gid_t>(launch.group_ids->begin(), launch.group_ids->end())
                    : GroupsOf(*launch.user_id, group)};
}

std::optional<Rights> RightsOf(const shim::Spec& spec) {
  if (!spec.user) return std::nullopt;
  Rights rights{
      static_cast<uid_t>(*spec.user), static_cast<gid_t>(spec.group.value_or(*spec.user)), {}};
  for (const std::int64_t group : spec.groups) rights.groups.push_back(static_cast<gid_t>(group));
  return rights;
}

AsAccount::AsAccount(const std::optional<Rights>& rights) {
  if (!rights || (rights->user == geteuid() && rights->user != 0)) return;
  const int count = getgroups(0, nullptr);
  own_groups_.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (count < 0 || getgroups(count, own_groups_.data()) != count || !SetGroups(rights->groups)) {
    ok_ = false;
    return;
  }
  changed_ = true;
  ok_ = SetUserAndGroup(rights->user, rights->group);
  // Else the roots of other processes could be passed through: /proc/1/root.
  if (ok_ && rights->user != 0) ok_ = capable_ = SwapEffective(capabilities_);
  if (!ok_) GoBack();
}

AsAccount::~AsAccount() {
  if (changed_) GoBack();
}

void AsAccount::GoBack() {
  changed_ = false;
  const bool capable = !capable_ || SwapEffective(capabilities_);
  const bool back = capable && SetUserAndGroup(geteuid(), getegid()) && SetGroups(own_groups_);
  PROMISE(back);
}

}  // namespace pondage::run
