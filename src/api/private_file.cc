#include "api/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/file.h"

namespace pondage::api {

using base::Fail;
using base::Kind;

namespace {

auto Failed(const std::string& path, const char* what) {
  return Fail(Kind::kUnavailable, "PND-A023", path,
              std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

base::Result<std::string> ReadFile(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return Fail(Kind::kNotFound, "PND-A023", path, "does not exist");
  if (!file) return Failed(path, "cannot be opened");
  std::string bytes;
  char part[16 << 10];
  for (;;) {
    const ssize_t got = ::read(file.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(path, "cannot be read");
    if (got == 0) return bytes;
    bytes.append(part, static_cast<std::size_t>(got));
  }
}

base::Result<void> WritePrivateFile(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  {
    const File file(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return Failed(fresh, "cannot be made");
    while (!bytes.empty()) {
      const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Failed(fresh, "cannot be written");
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::fchmod(file.get(), 0600) != 0 || ::fsync(file.get()) != 0)
      return Failed(fresh, "cannot be kept");
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return Failed(path, "cannot be replaced");
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const File parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent && ::fsync(parent.get()) != 0) return Failed(folder, "cannot be kept");
  return {};
}

}  // namespace pondage::api
