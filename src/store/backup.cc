#include "store/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "store/reads.h"

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;

namespace {

constexpr int kPagesPerStep = 256;

std::unexpected<base::Error> FailOn(const std::string& path, const char* what) {
  return Fail(Kind::kUnavailable, "PND-S004", path,
              fmt::format("{} ({})", what, std::strerror(errno)));
}

Result<void> CopyPages(Database& from, Database& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) {
    return std::unexpected(to.ErrorOf(sqlite3_extended_errcode(to.handle())));
  }
  int code = SQLITE_OK;
  while (code == SQLITE_OK) code = sqlite3_backup_step(backup, kPagesPerStep);
  sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) return {};
  return std::unexpected(to.ErrorOf(code));
}

Result<void> Copy(const Database::Options& source, const std::string& path) {
  TRY(const auto from, Database::Open(source));
  // An open snapshot: without it each commit of the writer would start the copy over again.
  TRY_DO(from->Run("BEGIN"));
  TRY_DO(NewestIn(*from));
  {
    TRY(const auto to, Database::Open({.path = path, .vfs = source.vfs}));
    TRY_DO(CopyPages(*from, *to));
  }
  from->RollBack();
  TRY(const auto copy, Database::Open({.path = path, .vfs = source.vfs}));
  // The writer's mark "in use" is not the copy's.
  TRY_DO(copy->Run("UPDATE state SET clean = 1"));
  return copy->Run("PRAGMA journal_mode=DELETE");  // one file, without a log beside it
}

Result<void> SyncDirectory(const std::string& path) {
  const auto directory = std::filesystem::absolute(path).parent_path();
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return FailOn(path, "the directory cannot be opened");
  const int code = fsync(file);
  close(file);
  if (code != 0) return FailOn(path, "the directory cannot be written to the disk");
  return {};
}

Result<void> Publish(const std::string& partial, const std::string& path) {
  if (link(partial.c_str(), path.c_str()) != 0) {
    if (errno == EEXIST) return Fail(Kind::kAlreadyExists, "", path, "the file is there already");
    return FailOn(path, "the file cannot be given its name");
  }
  unlink(partial.c_str());
  return SyncDirectory(path);
}

}  // namespace

Result<void> BackUp(const Database::Options& source, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    return Fail(Kind::kAlreadyExists, "", path, "the file is there already");
  }
  const std::string partial = path + ".partial";
  // Made by us: a store holds secrets, and SQLite would let the group read it.
  unlink(partial.c_str());  // of one that was cut short; never written through: it may be a link
  const int file = open(partial.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return FailOn(partial, "the file cannot be made");
  close(file);
  auto done = Copy(source, partial);
  if (done) done = Publish(partial, path);
  if (!done) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      unlink((partial + suffix).c_str());
    }
  }
  return done;
}

}  // namespace pondage::store
