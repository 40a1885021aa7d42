#include "agent/reach.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "run/rights.h"
#include "run/touching.h"
#include "shim/descriptor.h"

namespace pondage::agent {
namespace {

// None: they are this process's own.
std::optional<run::Rights> RightsOf(const Account& account) {
  if (account.user == geteuid()) return std::nullopt;
  run::Rights rights{account.user, account.group, {account.group}};
  rights.groups.insert(rights.groups.end(), account.groups.begin(), account.groups.end());
  return rights;
}

struct Found {
  std::optional<Reached> reached;
  int error = 0;
};

Found Look(const std::optional<run::Rights>& rights, const std::string& path) {
  const run::Touching touching(path);
  const run::AsAccount account(rights);
  if (!account) return {std::nullopt, EPERM};
  const shim::Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return {std::nullopt, errno};
  return {Reached{{status.st_dev, status.st_ino}, status.st_mode}, 0};
}

// With the rights of this thread's file system account, which faccessat() of older kernels ignores.
int WhyNotExecutable(const std::optional<run::Rights>& rights, const std::string& path) {
  const run::Touching touching(path);
  const run::AsAccount account(rights);
  if (!account) return EPERM;
  if (syscall(SYS_faccessat2, AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) return 0;
  return errno;
}

// The first directory on the way to `path` that those rights do not enter; empty: none.
std::string BarTo(const std::optional<run::Rights>& rights, const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (WhyNotExecutable(rights, path.substr(0, slash)) == EACCES) return path.substr(0, slash);
  }
  return "";
}

// What opens the way to a program that those rights may not execute.
std::string HowToLetIn(const std::optional<run::Rights>& rights, const std::string& path) {
  const run::Touching touching(path);
  std::error_code error;
  const std::string behind_links = std::filesystem::canonical(path, error).string();
  std::string bar = BarTo(rights, path);
  if (bar.empty() && !error) bar = BarTo(rights, behind_links);
  if (!bar.empty()) {
    return "; the directory " + bar +
           " bars it: put the environment where that account may go, or chmod o+x " + bar;
  }
  return error ? "" : "; chmod o+rx " + behind_links + " lets it";
}

}  // namespace

base::Result<void> MayExecuteAs(const Account& account, const std::string& path) {
  const auto rights = RightsOf(account);
  const int error = WhyNotExecutable(rights, path);
  if (error == 0) return {};
  return base::Fail(base::Kind::kForbidden, "PND-E003", path,
                    path + " cannot be executed by the account " + account.name +
                        ", which jobs run as: " + std::strerror(error) +
                        (error == EACCES ? HowToLetIn(rights, path) : ""));
}

base::Result<void> MakeAs(const Account& account, const std::string& path, bool directory) {
  const auto refuse = [&path, &account](int error) {
    return base::Fail(base::Kind::kForbidden, "PND-R005", path,
                      "cannot be made by " + account.name + ": " + std::strerror(error));
  };
  const run::Touching touching(path);
  const run::AsAccount as(RightsOf(account));
  if (!as) return refuse(EPERM);
  if (!directory) {
    const shim::Descriptor made(
        open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
    return made || errno == EISDIR ? base::Result<void>{} : refuse(errno);
  }
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return refuse(errno);
    if (slash == std::string::npos) return {};
  }
}

base::Result<Reached> ReachAs(const Account& account, const std::string& path) {
  const Found found = Look(RightsOf(account), path);
  if (found.reached) return *found.reached;
  const bool missing = found.error == ENOENT || found.error == ENOTDIR;
  return base::Fail(missing ? base::Kind::kNotFound : base::Kind::kForbidden, "PND-R005", path,
                    "cannot be reached by " + account.name + ": " + std::strerror(found.error));
}

}  // namespace pondage::agent
