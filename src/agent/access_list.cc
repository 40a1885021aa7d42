#include "agent/access_list.h"

#include <endian.h>
#include <sys/xattr.h>

#include <array>
#include <cstdint>
#include <string>

namespace pondage::agent {
namespace {

constexpr unsigned kRead = 4, kReadAndEnter = 5, kAll = 7;
constexpr std::uint32_t kNobody = 0xffffffff;

// Five entries in the order that the kernel asks for, little-endian.
struct List {
  std::uint32_t version = htole32(2);
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  std::array<Entry, 5> entries;
};
static_assert(sizeof(List) == 4 + 5 * 8);

List ListOf(unsigned owner, uid_t reader, unsigned reads, unsigned group, unsigned other) {
  const auto entry = [](unsigned tag, unsigned permissions, std::uint32_t id) {
    return List::Entry{htole16(static_cast<std::uint16_t>(tag)),
                       htole16(static_cast<std::uint16_t>(permissions)), htole32(id)};
  };
  constexpr unsigned kOwner = 0x01, kUser = 0x02, kGroup = 0x04, kMask = 0x10, kOther = 0x20;
  return {.entries = {entry(kOwner, owner, kNobody), entry(kUser, reads, reader),
                      entry(kGroup, group, kNobody), entry(kMask, group | reads, kNobody),
                      entry(kOther, other, kNobody)}};
}

}  // namespace

void LetRead(int file, const struct stat& status, uid_t reader) {
  const bool is_directory = S_ISDIR(status.st_mode);
  if (!is_directory && !S_ISREG(status.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const auto put = [&path](const char* name, const List& list) {
    (void)setxattr(path.c_str(), name, &list, sizeof list, 0);
  };
  const unsigned owner = status.st_mode >> 6 & kAll;
  const bool enters = is_directory || (owner & 1U) != 0;
  put("system.posix_acl_access", ListOf(owner, reader, enters ? kReadAndEnter : kRead,
                                        status.st_mode >> 3 & kAll, status.st_mode & kAll));
  // What is made in it: as with the usual umask. Who may not enter the copy sees none of it.
  if (is_directory)
    put("system.posix_acl_default",
        ListOf(kAll, reader, kReadAndEnter, kReadAndEnter, kReadAndEnter));
}

}  // namespace pondage::agent
