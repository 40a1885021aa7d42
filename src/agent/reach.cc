#include "agent/reach.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "run/groups.h"
#include "run/replica_dir.h"

namespace pondage::agent {
namespace {

// This thread alone, for good. By number: the C library would change all threads.
bool Become(const Account& account, const std::vector<gid_t>& groups) {
  if (syscall(SYS_setgroups, groups.size(), groups.data()) != 0) return false;
  setfsgid(account.group);
  setfsuid(account.user);  // takes the capabilities that pass over file modes along
  const auto user = static_cast<uid_t>(setfsuid(uid_t(-1)));
  const auto group = static_cast<gid_t>(setfsgid(gid_t(-1)));
  return user == account.user && group == account.group;
}

struct Found {
  std::optional<port::FileId> file;
  int error = 0;
};

Found Look(const Account& account, const std::vector<gid_t>& groups, const std::string& path) {
  if (!Become(account, groups)) return {std::nullopt, EPERM};
  const run::Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return {std::nullopt, errno};
  return {port::FileId{status.st_dev, status.st_ino}, 0};
}

// With the rights of this thread's file system account, which faccessat() of older kernels ignores.
int WhyNotExecutable(const Account& account, const std::vector<gid_t>& groups,
                     const std::string& path) {
  if (!Become(account, groups)) return EPERM;
  if (syscall(SYS_faccessat2, AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) return 0;
  return errno;
}

}  // namespace

base::Result<void> MayExecuteAs(const Account& account, const std::string& path) {
  const std::vector<gid_t> groups = run::GroupsOf(account.user, account.group);
  int error = 0;
  std::thread([&] { error = WhyNotExecutable(account, groups, path); }).join();
  if (error == 0) return {};
  return base::Fail(base::Kind::kForbidden, "PND-E003", path,
                    path + " cannot be executed by the account " + account.name +
                        ", which jobs run as: " + std::strerror(error));
}

base::Result<port::FileId> ReachAs(const Account& account, const std::string& path) {
  const std::vector<gid_t> groups = run::GroupsOf(account.user, account.group);
  Found found;
  std::thread([&] { found = Look(account, groups, path); }).join();
  if (found.file) return *found.file;
  const bool missing = found.error == ENOENT || found.error == ENOTDIR;
  return base::Fail(missing ? base::Kind::kNotFound : base::Kind::kForbidden, "PND-R005", path,
                    "cannot be reached by " + account.name + ": " + std::strerror(found.error));
}

}  // namespace pondage::agent
