#include "run/groups.h"

#include <grp.h>
#include <pwd.h>

#include <array>

namespace pondage::run {

std::vector<gid_t> GroupsOf(uid_t user, gid_t group) {
  std::array<char, 16 * 1024> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return {group};
  }
  std::array<gid_t, 256> groups;
  int count = groups.size();
  if (getgrouplist(entry.pw_name, group, groups.data(), &count) < 0) return {group};
  return {groups.begin(), groups.begin() + count};
}

}  // namespace pondage::run
