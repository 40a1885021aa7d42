#include "run/replica_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

constexpr std::size_t kExitLimit = 1u << 20;

struct flock WholeFile() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool ReplicaDir::IsName(std::string_view uid) {
  return !uid.empty() && uid.size() <= 100 && uid.front() != '-' &&
         std::ranges::all_of(uid, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-';
         });
}

ReplicaDir::ReplicaDir(const std::string& data_dir, const std::string& uid)
    : path_(data_dir + "/replicas/" + uid) {
  REQUIRE(IsName(uid));
}

bool ReplicaDir::Make() const {
  const std::size_t slash = path_.rfind('/');
  mkdir(path_.substr(0, slash).c_str(), 0711);
  return mkdir(path_.c_str(), 0711) == 0 || errno == EEXIST;
}

void ReplicaDir::Erase() const {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::optional<shim::Spec> ReplicaDir::ReadSpec() const {
  const auto bytes = shim::ReadFile(File("spec"), shim::kSpecLimit);
  return bytes ? shim::DecodeSpec(*bytes) : std::nullopt;
}

std::optional<shim::Ended> ReplicaDir::ReadEnd(std::string_view name, std::int64_t start) const {
  const auto bytes = shim::ReadFile(File(name), kExitLimit);
  auto ended = bytes ? shim::DecodeEnded(*bytes) : std::nullopt;
  return ended && ended->start == start ? ended : std::nullopt;
}

std::optional<shim::Ended> ReplicaDir::ReadExit(std::int64_t start) const {
  auto ended = ReadEnd("exit", start);
  return ended ? ended : ReadEnd("taken", start);
}

void ReplicaDir::Take(std::int64_t start) const {
  if (ReadEnd("exit", start)) rename(File("exit").c_str(), File("taken").c_str());
}

bool ReplicaDir::IsTaken(std::int64_t start) const {
  return ReadEnd("taken", start).has_value();
}

bool ReplicaDir::HasBegun(std::int64_t start) const {
  return access(File(std::to_string(start) + ".log").c_str(), F_OK) == 0;
}

bool ReplicaDir::IsMade(std::int64_t start) const {
  const auto spec = ReadSpec();
  if (!spec || spec->start < start) return false;
  if (spec->boot_id != shim::BootId()) return true;  // what else there was may not be on the disk
  // The lock first: its shim may begin, or end, between two looks.
  return spec->start > start || IsLocked() || HasBegun(start) || ReadExit(start).has_value();
}

void ReplicaDir::ForgetEnds() const {
  for (const char* const name : {"exit", "taken"}) unlink(File(name).c_str());
}

shim::Descriptor ReplicaDir::TakeLock() const {
  shim::Descriptor file(open(File("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct flock lock = WholeFile();
  if (!file || fcntl(file.get(), F_OFD_SETLK, &lock) != 0) return shim::Descriptor();
  return file;
}

bool ReplicaDir::IsLocked() const {
  const shim::Descriptor file(open(File("lock").c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = WholeFile();
  return file && fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace pondage::run
